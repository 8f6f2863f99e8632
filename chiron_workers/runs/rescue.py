from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from chiron_workers.db.queries import load
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.release import Release, failed_release, release_runs
from chiron_workers.states import EventKind, RunState

SQL = load(__file__)
RUNS_PER_PASS = 200  # runs of one pass, so that a pass stays short


@dataclass(frozen=True, slots=True)
class Server:
    """Which server answers, and what its clock shows as a transaction of it begins."""

    started_at: datetime
    now: datetime


@dataclass(frozen=True, slots=True)
class ExpiredRun(LeasedRun):
    """A running run whose lease has run out."""

    worker: str
    used_up: bool


async def rescue(journal: Journal, *, may_rescue: Callable[[Server], bool], max_attempts: int) -> int:
    """Put the runs of dead workers back into the queue, or end those that are out of attempts; how many.

    One worker at a time does this; for the others it is 0 at once.

    Args:
        may_rescue: Whether leases that ran out say that their holders are gone, by this server and this clock. It is
            called after the look at the leases, so that a server which stood still in between robs nobody.
    """
    args = {"max_attempts": max_attempts, "limit": RUNS_PER_PASS}
    async with journal.pool.connection() as connection, connection.transaction():
        lock = await (await connection.execute(SQL["lock"])).fetchone()
        if not lock or not lock["held"]:
            return 0
        rows = await (await connection.execute(SQL["expired"], args)).fetchall()
        expired_runs = [ExpiredRun(**row) for row in rows]
        if not expired_runs or not may_rescue(Server(lock["server_started_at"], lock["now"])):
            return 0
        releases = [(run, _release(run, max_attempts)) for run in expired_runs]
        events = await release_runs(connection, releases)
    journal.publish_all(events)
    for batch_id in {run.batch_id for run in expired_runs}:
        journal.publish_all(await complete_batch(journal.pool, batch_id))
    return len(expired_runs)


def _release(run: ExpiredRun, max_attempts: int) -> Release:
    if run.used_up:
        return failed_release(
            "attempts",
            f"The run was taken {max_attempts} times and each time its worker ended before it got further.",
        )
    events = ((EventKind.RUN_HANDED_BACK, {"reason": "its worker is not heard of", "worker": run.worker}),)
    return Release(RunState.QUEUED, events, counts=True)
