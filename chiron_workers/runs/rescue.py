from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.release import Release, failure, release_runs
from chiron_workers.states import EventKind, RunState

SQL = load(__file__)
BATCH = 200  # runs of one pass, so that a pass stays short


@dataclass(frozen=True, slots=True)
class ExpiredRun:
    """A run whose holder is not heard of."""

    id: UUID
    batch_id: UUID
    lease: int
    worker: str
    used_up: bool


async def rescue(journal: Journal, *, lease_for: timedelta, max_attempts: int) -> int:
    """Put the runs of dead workers back into the queue, or end those that are out of attempts; how many.

    One worker at a time does this; for the others it is 0 at once.
    """
    args = {"lease_for": lease_for, "max_attempts": max_attempts, "limit": BATCH}
    async with journal.pool.connection() as connection, connection.transaction():
        lock = await (await connection.execute(SQL["lock"])).fetchone()
        if not lock or not lock["held"]:
            return 0
        rows = await (await connection.execute(SQL["expired"], args)).fetchall()
        lost = [ExpiredRun(**row) for row in rows]
        endings = [(run, _release(run, max_attempts)) for run in lost]
        events = await release_runs(connection, endings)
    journal.publish_all(events)
    return len(rows)


def _release(lost: ExpiredRun, max_attempts: int) -> Release:
    if lost.used_up:
        return failure(
            "attempts",
            f"The run was taken {max_attempts} times and each time its worker ended before it got further.",
        )
    told = ((EventKind.RUN_HANDED_BACK, {"reason": "its worker is not heard of", "worker": lost.worker}),)
    return Release(RunState.QUEUED, told, counts=True)
