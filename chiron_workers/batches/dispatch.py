"""Who runs next: by priority, then fairly between batches, within the limits of each batch and model. Suspects one at a time."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.celery import QueuedRun
from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import clear, record
from chiron_workers.runs.suspects import SUSPECTS_SQL
from chiron_workers.states import Duty

SQL = load(__file__, SUSPECTS_SQL)
DISPATCH_MAX = 100  # by one look, so that it stays short; the next one goes on


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The runs to send messages for, in their order, and how many dispatched runs wait for a worker with these."""

    runs_to_dispatch: list[QueuedRun]
    outstanding: int


async def dispatch_next(
    pool: Pool, *, room: Callable[[], int], redispatch_after: timedelta, model_limits: Mapping[str, int]
) -> Dispatch:
    """Decide whose turn it is, and mark these runs as dispatched.

    Dispatched runs count against the room, whichever worker dispatched them, since any worker may acquire them. They
    also count as running against every limit, so that two workers at once pass none.

    Args:
        room: Tells how many runs the worker could begin to play. It is asked once the dispatched runs are counted: one that is
            acquired in between counts twice rather than never, so that no run too many is dispatched.
        redispatch_after: The age at which a run that nobody has acquired is dispatched again, before any other.
        model_limits: Runs of a model that may play at once; a model that is not named has no limit.
    """
    args: dict[str, Any] = {
        "redispatch_after": redispatch_after,
        "models": list(model_limits),
        "limits": list(model_limits.values()),
    }
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(SQL["lock"])
        out = await fetch_one(connection, SQL["outstanding"], args)
        young, old, slots = out["young"], out["old"], room()
        args |= {"resting": out["resting"]}
        again = await _dispatch(connection, "dispatch_again", args, min(slots - young, old, DISPATCH_MAX))
        new = await _dispatch(connection, "dispatch_next", args, min(slots - young - old, DISPATCH_MAX))
        runs = [*again, *new]
        if was_failed := {run.id for run in runs}.intersection(out["failed"]):
            await clear(lambda: nullcontext(connection), Duty.DISPATCH, sorted(was_failed))
    return Dispatch(runs, young + old + len(new))


async def undo_dispatch(pool: Pool, runs: Sequence[QueuedRun]) -> None:
    """Forget the dispatch of runs whose messages could not be sent: it is decided anew whose turn it is."""
    async with pool.connection() as connection:
        await connection.execute(SQL["undo"], {"run_ids": [run.id for run in runs]})


async def _dispatch(
    connection: AsyncConnection[DictRow], query: str, args: Mapping[str, object], limit: int
) -> list[QueuedRun]:
    if limit <= 0:
        return []
    rows = await (await connection.execute(SQL[query], {**args, "limit": limit})).fetchall()
    return await _mark(connection, [row["id"] for row in rows])


async def _mark(connection: AsyncConnection[DictRow], run_ids: Sequence[UUID]) -> list[QueuedRun]:
    """Mark runs as dispatched; one that Postgres refuses rests, and keeps no other waiting."""
    if not run_ids:
        return []
    try:
        async with connection.transaction():
            rows = await (await connection.execute(SQL["mark"], {"ids": run_ids})).fetchall()
    except psycopg.Error as error:
        if is_away(error):
            raise
        if len(run_ids) == 1:
            await record(lambda: nullcontext(connection), Duty.DISPATCH, run_ids[0], error)
            return []
        middle = len(run_ids) // 2
        return [*await _mark(connection, run_ids[:middle]), *await _mark(connection, run_ids[middle:])]
    run_by_id = {row["id"]: QueuedRun(**row) for row in rows}
    return [run_by_id[run_id] for run_id in run_ids]
