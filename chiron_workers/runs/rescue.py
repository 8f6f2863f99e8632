import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import clear, is_fault_of_process, isolated, record
from chiron_workers.instruments import record_pause
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.release import Release, paused_release, release_runs
from chiron_workers.runs.suspects import Suspicion, suspect
from chiron_workers.settings import MAX_ATTEMPTS
from chiron_workers.states import Duty, EventKind, RunState

SQL = load(__file__)
RUNS_PER_PASS = 1_000
RUNS_PER_TRANSACTION = 200  # so that each stays short
PAUSE = "ended_workers"  # the error of a run that is why workers ended
LEASE_PAUSE = "lost_leases"  # the error of a run whose lease alone runs out, again and again


@dataclass(frozen=True, slots=True)
class Server:
    """Which server answers, and what its clock shows as a transaction of it begins."""

    started_at: datetime
    now: datetime


@dataclass(frozen=True, slots=True)
class LostRun(LeasedRun):
    """A running run whose lease has run out."""

    worker: str
    attempt: int
    has_progressed: bool  # committed a step under this lease
    has_failed: bool  # whether its rescue has


async def rescue(
    journal: Journal,
    *,
    may_rescue: Callable[[Server], bool],
    notice: timedelta = timedelta(),
    max_attempts: int = MAX_ATTEMPTS,
) -> int:
    """Put the runs of dead workers back into the queue, or pause those that are why the workers ended; how many.

    A run that its living worker no longer renews pauses at its last attempt. Each rescue writes off the call in flight, and would
    do so for ever.

    Their rows are first written as they are: where Postgres refuses that, it has refused the holders' renewals, too. A holder
    that renews in the `notice` after that write keeps its run. A run that cannot be rescued keeps no other waiting.

    One worker at a time begins with this; for the others it is 0 at once.

    Args:
        may_rescue: Whether leases that ran out say that their holders are gone, by this server and this clock. It is
            called after each look at the leases, so that a server which stood still in between robs nobody.
        notice: As long as a holder that is alive takes to renew. It may begin before the lease is over.
        max_attempts: Executions in a row that add nothing, before a run pauses whose lease alone ran out.
    """
    look = partial(_look, journal.pool, may_rescue)
    args: dict[str, Any] = {"notice": notice, "limit": RUNS_PER_PASS}
    async with look("begin_alone", "ending", args) as (connection, rows):
        run_ids = [row["id"] for row in rows]
        if not rows:
            return 0
        refusals = await _touch(connection, run_ids)
    for run_id, refusal in refusals.items():
        await record(journal.pool.connection, Duty.RESCUE, run_id, refusal)
    run_ids = [run_id for run_id in run_ids if run_id not in refusals]
    await asyncio.sleep(notice.total_seconds())

    async def rescue_runs(ids: Sequence[UUID]) -> int:
        return await _rescue_expired(journal, look, ids, notice, max_attempts)

    count = 0
    for start in range(0, len(run_ids), RUNS_PER_TRANSACTION):
        ids = run_ids[start : start + RUNS_PER_TRANSACTION]
        try:
            count += await rescue_runs(ids)
        except Exception as error:
            if is_away(error) or is_fault_of_process(error):
                raise
            # One of them is refused: each by itself, so that it alone is left.
            for run_id in ids:
                async with isolated(journal.pool.connection, Duty.RESCUE, run_id):
                    count += await rescue_runs([run_id])
    return count


async def _touch(connection: AsyncConnection[DictRow], run_ids: Sequence[UUID]) -> dict[UUID, psycopg.Error]:
    """Write the rows of runs as they are; those that Postgres refuses to write, and why."""
    try:
        async with connection.transaction():
            await connection.execute(SQL["touch"], {"ids": run_ids})
    except psycopg.Error as error:
        if is_away(error):
            raise
        if len(run_ids) == 1:
            return {run_ids[0]: error}
        refusals: dict[UUID, psycopg.Error] = {}
        for run_id in run_ids:
            refusals |= await _touch(connection, [run_id])
        return refusals
    return {}


async def _rescue_expired(
    journal: Journal, look: "_Look", run_ids: Sequence[UUID], notice: timedelta, max_attempts: int
) -> int:
    async with look("begin", "expired", {"ids": run_ids}) as (connection, rows):
        lost_runs = [LostRun(**row) for row in rows]
        lost_ids = [run.id for run in lost_runs]
        suspicions = await suspect(connection, lost_ids, notice=notice) if lost_runs else {}
        releases = [(run, _release(run, suspicions.get(run.id), max_attempts)) for run in lost_runs]
        events = await release_runs(connection, releases)
    journal.publish_all(events)
    kinds = {run.id: release.error["kind"] for run, release in releases if release.error}
    for event in events:
        # A run whose pause a user requested has another reason.
        if event.kind == EventKind.RUN_PAUSED and event.run_id in kinds:
            record_pause(kinds[event.run_id])
    if failed_ids := [run.id for run in lost_runs if run.has_failed]:
        await clear(journal.pool.connection, Duty.RESCUE, failed_ids)
    for batch_id in {run.batch_id for run in lost_runs}:
        journal.publish_all(await complete_batch(journal.pool, batch_id))
    return len(lost_runs)


_Look = Callable[
    [str, str, Mapping[str, Any]],
    AbstractAsyncContextManager[tuple[AsyncConnection[DictRow], list[DictRow]]],
]


@asynccontextmanager
async def _look(
    pool: Pool, may_rescue: Callable[[Server], bool], begin: str, query: str, args: Mapping[str, Any]
) -> AsyncIterator[tuple[AsyncConnection[DictRow], list[DictRow]]]:
    """A transaction that holds the rows of a query, none where it may not look or `may_rescue` says no."""
    async with pool.connection() as connection, connection.transaction():
        server = await fetch_one(connection, SQL[begin])
        rows = await (await connection.execute(SQL[query], args)).fetchall() if server["may_look"] else []
        is_allowed = not rows or may_rescue(Server(server["started_at"], server["now"]))
        yield connection, rows if is_allowed else []


def _release(run: LostRun, suspicion: Suspicion | None, max_attempts: int) -> Release:
    if suspicion and suspicion.is_cause:
        return paused_release(PAUSE, _cause(run, suspicion))
    # Without a suspicion, and without progress, it was left by a worker that lives.
    if suspicion is None and not run.has_progressed and run.attempt >= max_attempts:
        return paused_release(LEASE_PAUSE, _lost_leases(run))
    reason = "its worker is not heard of"
    if suspicion and suspicion.is_suspect:
        reason += ", and this run may be why: one such run is played at a time until it gets further"
    events = ((EventKind.RUN_HANDED_BACK, {"reason": reason, "worker": run.worker}),)
    return Release(RunState.QUEUED, events, counts=suspicion is None or suspicion.is_suspect)


def _cause(run: LostRun, suspicion: Suspicion) -> str:
    return (
        f"{suspicion.ends} workers ended while they played one step of this run, {run.worker} last, and no other run "
        "of theirs is as likely to be why. Their logs may say more, and the system's log whether memory ran out. "
        "Once the cause is mended, the run can continue with that step."
    )


def _lost_leases(run: LostRun) -> str:
    return (
        f"{run.attempt} executions of this run in a row committed nothing, and the lease of the last one ran out although its "
        f"worker {run.worker} renewed the leases of other runs. Postgres may refuse to renew this one: the worker's log says "
        "why. Once the cause is mended, the run can continue with that step."
    )
