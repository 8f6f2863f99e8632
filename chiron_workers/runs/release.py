"""How a taking ends: completed, failed, paused, cancelled or handed back, and with it, perhaps, its batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.runs.entries import storable
from chiron_workers.runs.events import Event
from chiron_workers.runs.fence import Held, Told, events_of, fence, json_text, shard_of
from chiron_workers.states import EventKind, RunState

SQL = load(__file__)
ASKED_FOR = {"reason": "asked for"}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a taking ends. `counts` marks a taking that failed: it uses up an attempt if it added nothing."""

    state: RunState
    told: tuple[Told, ...]
    answer: str | None = None
    error: Mapping[str, str] | None = None
    ready_in: timedelta = timedelta()
    counts: bool = False
    silent: bool = False  # nobody need be bothered with it


async def release_within(
    connection: AsyncConnection[DictRow], run: Held, ending: Ending
) -> list[Event] | None:
    """End a taking within a transaction of the caller; the events to publish after it, None if fenced off.

    A run that would go on elsewhere stops here if somebody wants it to: nobody else would have to be asked.
    """
    held = await _hold(connection, run)
    if held is None or (ending.state == RunState.COMPLETED and held["unread"]):
        return None
    await _spend_reserved(connection, run, held)
    return await _release_held(connection, run, ending, held)


async def release_all_within(
    connection: AsyncConnection[DictRow], endings: Sequence[tuple[Held, Ending]]
) -> list[Event]:
    """As `release_within` for many runs whose workers are lost; those that are fenced off are passed over."""
    found = [(run, ending, await _hold(connection, run)) for run, ending in endings]
    ours = [(run, ending, held) for run, ending, held in found if held is not None]
    # All before the first batch: replies hold their row of the day while they wait for that of their batch.
    for run, _, held in ours:
        await _spend_reserved(connection, run, held)
    events = []
    for run, ending, held in ours:
        events += await _release_held(connection, run, ending, held) or []
    return events


async def close_batch(connection: AsyncConnection[DictRow], *, batch_id: UUID, run_id: UUID) -> Event:
    """Say that a batch is completed, in the sequence of the run that ended last; the run row is locked by now."""
    args = {"batch_id": batch_id, "run_id": run_id}
    row = await (await connection.execute(SQL["close_batch"], args)).fetchone()
    assert row is not None
    return Event(batch_id, run_id, row["seq"], EventKind.BATCH_COMPLETED, row["at"], row["data"])


def as_wanted(ending: Ending, wanted: str | None) -> Ending:
    """How a taking ends that somebody wants paused or cancelled. What is completed stays so; a cancel beats the rest."""
    if wanted == "cancel" and ending.state != RunState.COMPLETED:
        return Ending(RunState.CANCELLED, ((EventKind.RUN_CANCELLED, ASKED_FOR),))
    if wanted == "pause" and ending.state == RunState.QUEUED:
        return Ending(RunState.PAUSED, ((EventKind.RUN_PAUSED, ASKED_FOR),))
    return ending


def failure(kind: str, message: str) -> Ending:
    """A run's end in failure, with the reason as its error."""
    error = {"kind": kind, "message": storable(message)}
    return Ending(RunState.FAILED, ((EventKind.RUN_FAILED, error),), error=error)


async def _release_held(
    connection: AsyncConnection[DictRow], run: Held, ending: Ending, held: DictRow
) -> list[Event] | None:
    ending = as_wanted(ending, held["wanted"])
    args = fence(run, ending.told) | _ending_columns(ending)
    args |= {"reserved_usd": held["reserved_usd"], "reserved_tokens": held["reserved_tokens"]}
    row = await (await connection.execute(SQL["release"], args)).fetchone()
    if row is None:
        return None
    events = events_of(run, row, ending.told)
    if row["open_runs"] == 0:
        events.append(await close_batch(connection, batch_id=run.batch_id, run_id=run.id))
    return events


async def _hold(connection: AsyncConnection[DictRow], run: Held) -> DictRow | None:
    args = {"run_id": run.id, "lease": run.lease}
    return await (await connection.execute(SQL["lock"], args)).fetchone()


async def _spend_reserved(connection: AsyncConnection[DictRow], run: Held, held: DictRow) -> None:
    if held["reserved_usd"]:
        args = {"shard": shard_of(run.id), "usd": held["reserved_usd"]}
        await connection.execute(SQL["spend"], args)


def _ending_columns(ending: Ending) -> dict[str, Any]:
    return {
        "state": ending.state,
        "answer": None if ending.answer is None else storable(ending.answer),
        "error": json_text(ending.error) if ending.error else None,
        "ready_in": ending.ready_in,
        "counts": ending.counts,
        "silent": ending.silent,
        "closes": ending.state.is_final,
    }
