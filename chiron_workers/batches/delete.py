"""Deleting runs and batches for good, with all that belongs to them; what they found stays unless it is unwanted."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.access.allotments import settle_runs
from chiron_workers.access.audit import record_within
from chiron_workers.batches.steering import batch_of
from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict
from chiron_workers.knowledge.facts import locks
from chiron_workers.knowledge.facts.confidences import Confidences
from chiron_workers.problems import Noun, cancel
from chiron_workers.runs.session import Session
from chiron_workers.states import FINAL_STATES

SQL = load(__file__)
RUNS_PER_TRANSACTION = 1_000  # runs of one transaction


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is gone. A batch goes with the last of its runs."""

    runs: int = 0
    facts: int = 0
    batch: bool = False

    def __add__(self, other: "Deletion") -> "Deletion":
        return Deletion(self.runs + other.runs, self.facts + other.facts, self.batch or other.batch)


async def delete(pool: Pool, target: UUID, *, with_facts: bool = False) -> Deletion:
    """Delete a run, or a batch with all of its runs: journal, events, messages and the rows themselves.

    A large batch goes in pieces; if that is interrupted, the same call deletes the rest. Sources stay.

    Args:
        with_facts: Also delete the facts that these runs alone have found. One that others confirmed or cite stays.

    Raises:
        NotFound: There is no such batch or run.
        Conflict: Something of it is not finished.
    """
    args: dict[str, Any] = {"id": target, "final": sorted(FINAL_STATES), "limit": RUNS_PER_TRANSACTION}
    async with pool.connection() as connection:
        args["batch_id"] = await batch_of(connection, target)
        await _refuse_open(connection, args)
    total = Deletion()
    while True:
        async with pool.connection() as connection, connection.transaction():
            if with_facts:
                await _lock_subjects(connection, args)
            deletion, fact_ids = await _delete_piece(connection, args, with_facts)
            await record_within(connection, target=target)
        await _recompute_confidences(pool, fact_ids)
        total += deletion
        if deletion.runs < RUNS_PER_TRANSACTION:
            return total


async def _refuse_open(connection: AsyncConnection[DictRow], args: dict[str, Any]) -> None:
    rows = await (await connection.execute(SQL["open"], args)).fetchall()
    if rows:
        counts = ", ".join(f"{row['runs']:,} {row['state']}" for row in rows)
        raise Conflict(
            f"{args['id']} stays as it is: not all of it is finished ({counts}).",
            remedies=(cancel(Noun.BATCH if args["id"] == args["batch_id"] else Noun.RUN, args["id"]),),
        )


async def _delete_piece(
    connection: AsyncConnection[DictRow], args: dict[str, Any], with_facts: bool
) -> tuple[Deletion, list[str]]:
    """What went, and the facts whose confidence has to be computed anew for that."""
    rows = await (await connection.execute(SQL["piece"], args)).fetchall()
    if not all(row["is_final"] for row in rows):
        await _refuse_open(connection, args)
    args = args | {"run_ids": [row["id"] for row in rows], "runs": len(rows)}
    for table in ("entries", "tool_results", "events"):
        await connection.execute(SQL[table], args)
    facts, fact_ids = await _delete_facts(connection, args) if with_facts else (0, [])
    await settle_runs(connection, args["batch_id"], args["run_ids"])
    await connection.execute(SQL["runs"], args)
    # The batch row comes last, after its runs.
    await connection.execute(SQL["count_down"], args)
    batches = (await connection.execute(SQL["drop_empty"], args)).rowcount
    return Deletion(len(rows), facts, batches > 0), fact_ids


async def _lock_subjects(connection: AsyncConnection[DictRow], args: dict[str, Any]) -> None:
    # Before the runs are locked, as a tool that stores a fact locks them: subject, then run.
    for row in await (await connection.execute(SQL["subjects"], args)).fetchall():
        await connection.execute(locks.SQL["lock_subject"], row)


async def _delete_facts(connection: AsyncConnection[DictRow], args: dict[str, Any]) -> tuple[int, list[str]]:
    heirs = await (await connection.execute(SQL["inherit"], args)).fetchall()
    await connection.execute(SQL["pass_on"], args)
    partners = await (await connection.execute(SQL["partners"], args)).fetchall()
    count = (await connection.execute(SQL["facts"], args)).rowcount
    return count, [row["fact_id"] for row in (*heirs, *partners)]


async def _recompute_confidences(pool: Pool, fact_ids: list[str]) -> None:
    if fact_ids:
        async with Session(pool) as session:
            await Confidences(session).recompute(fact_ids, reason="what it rested on was deleted")
