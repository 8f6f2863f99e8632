"""Pruning: journals and events of whole months are dropped. Runs, batches and facts, which are what was found, stay."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection, errors, sql
from psycopg.rows import DictRow

from chiron_workers.access.audit import record_within
from chiron_workers.db.connect import Pool, fetch_all, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.errors import UsageError
from chiron_workers.runs.partitions import Partition, list_all
from chiron_workers.states import FINAL_STATES

SQL = load(__file__)
AGE_MIN = timedelta(days=1)
# Workers that write wait behind a prune that waits, so it waits briefly. The last try is longer than Postgres' own
# deadlock_timeout, after which a vacuum gives way.
TRIES_S = (0.3, 0.3, 0.3, 1.5)
PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Month:
    """A month of journals: dropped, or kept for the reason in `kept`."""

    name: str  # 2026_11, or before_2026_12 for what was there before there were months
    runs: int
    bytes: int
    kept: str = ""


class _Unfinished(Exception):
    """Raised within the transaction, so that it is rolled back."""


async def prune(pool: Pool, *, older_than: timedelta, dry_run: bool = False) -> list[Month]:
    """Drop the journals and events of each month that was over `older_than` ago, if all of its runs are finished.

    Runs whose journal is gone keep their answer and their sums, and cannot go on.

    Returns:
        Every month there is, oldest first, with why it is kept. With `dry_run` nothing is changed.

    Raises:
        UsageError: `older_than` is less than a day.
    """
    if older_than < AGE_MIN:
        raise UsageError("Only what is at least a day old can be pruned.")
    [row] = await fetch_all(pool, SQL["now"])
    months = []
    for partition, size in await list_all(pool):
        month = await _inspect(pool, partition, size, before=row["now"] - older_than)
        if not month.kept and not dry_run:
            month = await _drop(pool, partition, month)
        months.append(month)
    return months


async def _inspect(pool: Pool, partition: Partition, size: int, *, before: datetime) -> Month:
    async with pool.connection() as connection:
        row = await fetch_one(connection, SQL["count"], _range(partition))
        month = Month(partition.name, row["runs"], size)
        if partition.ends > before:
            return replace(month, kept="is not old enough")
        return replace(month, kept=await _reason_unfinished(connection, partition))


async def _drop(pool: Pool, partition: Partition, month: Month) -> Month:
    for timeout_s in TRIES_S:
        try:
            async with pool.connection() as connection, connection.transaction():
                await connection.execute(SQL["lock_timeout"], {"timeout": f"{timeout_s}s"})
                return replace(month, runs=await _drop_locked(connection, partition))
        except _Unfinished as error:
            return replace(month, kept=str(error))
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            await asyncio.sleep(PAUSE_S)
    return replace(
        month, kept="is being read by somebody (a backup, a long query, a vacuum); prune again later"
    )


async def _drop_locked(connection: AsyncConnection[DictRow], partition: Partition) -> int:
    # The rows of the runs first, then the tables: the order of every writer.
    cursor = await connection.execute(SQL["mark"], _range(partition))
    if reason := await _reason_unfinished(connection, partition):
        raise _Unfinished(reason)
    tables = sql.SQL(", ").join(sql.Identifier(table) for table in partition.tables)
    await connection.execute(SQL["forget_messages"], _range(partition))
    await connection.execute(SQL["forget_side_replies"], _range(partition))
    await connection.execute(SQL["forget_write_offs"], _range(partition))
    await connection.execute(SQL["forget_addresses"], _range(partition))
    await connection.execute(SQL["drop"].format(tables=tables))
    # Nobody can write events now. A run that went on and ended while the others were marked is not marked.
    if await (await connection.execute(SQL["unmarked"], _range(partition))).fetchone():
        raise _Unfinished("has runs that went on meanwhile; prune again later")
    await record_within(connection)
    return cursor.rowcount


async def _reason_unfinished(connection: AsyncConnection[DictRow], partition: Partition) -> str:
    rows = await (await connection.execute(SQL["unfinished"], _range(partition))).fetchall()
    counts = ", ".join(f"{row['runs']:,} {row['state']}" for row in rows)
    return f"has runs that are not finished ({counts})" if rows else ""


def _range(partition: Partition) -> dict[str, Any]:
    return {"low": partition.low, "high": partition.high, "final": sorted(FINAL_STATES)}
