"""How a lease ends: the run completes, fails, pauses, is cancelled or goes back to the queue.

After the commit of what is final, `batch_completion.py` looks whether its batch is over.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.problems import CONTINUE, TRY_AGAIN, Remedy, as_json
from chiron_workers.runs.citations import CITATIONS_SQL
from chiron_workers.runs.entries import storable
from chiron_workers.runs.events import ON_REQUEST, Event
from chiron_workers.runs.fence import (
    LeasedRun,
    NewEvent,
    fence,
    json_text,
    lease_columns,
    numbered_events,
    shard_of,
)
from chiron_workers.runs.notices import announce
from chiron_workers.runs.usage import USAGE_SQL
from chiron_workers.states import EventKind, RunState, StopRequest

SQL = load(__file__, CITATIONS_SQL, USAGE_SQL)


@dataclass(frozen=True, slots=True)
class Release:
    """The state a run is released to. `counts`: the lease failed, and uses up an attempt if it added nothing to the journal.

    `cited_ids` are the facts that its answer cites.
    """

    state: RunState
    events: tuple[NewEvent, ...]
    answer: str | None = None
    error: Mapping[str, Any] | None = None
    ready_in: timedelta = timedelta()
    counts: bool = False
    silent: bool = False  # nobody need be bothered with it
    cited_ids: Collection[str] = ()


async def release_run(
    connection: AsyncConnection[DictRow], run: LeasedRun, release: Release
) -> list[Event] | None:
    """Release a run within the caller's transaction; the events to publish after it, None if the lease is lost.

    A stop that was requested takes effect here where the run would go back to the queue.
    """
    locked_row = await _lock(connection, run)
    if locked_row is None or (release.state == RunState.COMPLETED and locked_row["unread"]):
        return None
    await _write_off_reserved(connection, [(run, locked_row)])
    return await _release_locked(connection, run, release, locked_row)


async def release_runs(
    connection: AsyncConnection[DictRow], releases: Sequence[tuple[LeasedRun, Release]]
) -> list[Event]:
    """As `release_run` for many runs whose workers are lost; those that are fenced off are passed over."""
    leased_rows = [(run, release, await _lock(connection, run)) for run, release in releases]
    ours = [(run, release, locked_row) for run, release, locked_row in leased_rows if locked_row is not None]
    await _write_off_reserved(connection, [(run, locked_row) for run, _, locked_row in ours])
    events = []
    for run, release, locked_row in ours:
        events += await _release_locked(connection, run, release, locked_row) or []
    return events


def apply_stop_request(release: Release, stop_requested: StopRequest | None) -> Release:
    """The release that a requested stop makes of it. What is completed stays so; a cancel goes before the rest."""
    if stop_requested == StopRequest.CANCEL and release.state != RunState.COMPLETED:
        return Release(RunState.CANCELLED, ((EventKind.RUN_CANCELLED, ON_REQUEST),))
    if stop_requested == StopRequest.PAUSE and release.state == RunState.QUEUED:
        return Release(RunState.PAUSED, ((EventKind.RUN_PAUSED, ON_REQUEST),))
    return release


def failed_release(kind: str, message: str, remedies: Sequence[Remedy] = ()) -> Release:
    """A run's end in failure, with the reason and what helps as its error; without another remedy it can be tried again."""
    error = {"kind": kind, "message": storable(message), **as_json(remedies or (TRY_AGAIN,))}
    return Release(RunState.FAILED, ((EventKind.RUN_FAILED, error),), error=error)


def paused_release(kind: str, reason: str, remedies: Sequence[Remedy] = ()) -> Release:
    """Pause a run until a person has mended what `kind` names, and resumes it."""
    reason, members = storable(reason), as_json(remedies or (CONTINUE,))
    events = ((EventKind.RUN_PAUSED, {"reason": reason, **members}),)
    return Release(RunState.PAUSED, events, error={"kind": kind, "message": reason, **members})


async def _release_locked(
    connection: AsyncConnection[DictRow], run: LeasedRun, release: Release, locked_row: DictRow
) -> list[Event] | None:
    release = apply_stop_request(release, locked_row["stop_requested"])
    args = fence(run, release.events) | _release_columns(release)
    row = await (await connection.execute(SQL["release"], args)).fetchone()
    if row is None:
        return None
    new_events = [
        (kind, {**data, **row["outcome"]}) if kind is EventKind.RUN_COMPLETED else (kind, data)
        for kind, data in release.events
    ]
    events = numbered_events(run, row, new_events)
    if locked_row["has_webhooks"]:
        await announce(connection, run.batch_id, events)
    return events


async def _lock(connection: AsyncConnection[DictRow], run: LeasedRun) -> DictRow | None:
    return await (await connection.execute(SQL["lock"], lease_columns(run))).fetchone()


async def _write_off_reserved(
    connection: AsyncConnection[DictRow], leased_rows: Sequence[tuple[LeasedRun, DictRow]]
) -> None:
    # Replies hold their row of the day while they wait for that of their batch: all days before the first batch, and the
    # rows of each kind in one order.
    reserved = sorted(
        (shard_of(run.id), run.batch_id, row["reserved_usd"], row["reserved_tokens"])
        for run, row in leased_rows
        if row["reserved_tokens"] or row["reserved_usd"]  # a hosted service has no tokens
    )
    args = [
        {"shard": shard, "batch_id": batch_id, "usd": usd, "tokens": tokens}
        for shard, batch_id, usd, tokens in reserved
    ]
    for arg in args:
        if arg["usd"]:
            await connection.execute(SQL["spend"], arg)
    for arg in args:
        await connection.execute(SQL["count_unconfirmed"], arg)


def _release_columns(release: Release) -> dict[str, Any]:
    return {
        "state": release.state,
        "answer": None if release.answer is None else storable(release.answer),
        "error": json_text(release.error) if release.error else None,
        "ready_in": release.ready_in,
        "counts": release.counts,
        "silent": release.silent,
        "closes": release.state.is_final,
        "cited_ids": ",".join(sorted(release.cited_ids)),
        "is_answered": release.answer is not None,
    }
