"""Steering from outside: cancel, pause, resume and retry, for a run or for all runs of a batch."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.errors import Conflict, NotFound
from chiron_workers.states import EventKind, RunState
from chiron_workers.store.connect import Pool
from chiron_workers.store.events import Event
from chiron_workers.store.journal import close_batch
from chiron_workers.store.queries import load
from chiron_workers.store.runs import MORE_TURNS, Waiting

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Steered:
    """What a request changed: runs that stopped or go on at once, and runs whose worker was asked to stop."""

    changed: int
    asked: list[UUID]
    to_ring: list[Waiting]
    events: list[Event]


async def cancel(pool: Pool, target: UUID) -> Steered:
    """End a run, or all open runs of a batch. What a worker plays ends when the worker learns of it.

    Raises:
        NotFound: There is no such batch or run.
        Conflict: Nothing of it is open.
    """
    waiting = [RunState.QUEUED, RunState.PAUSED]
    return await _stop(pool, target, waiting, RunState.CANCELLED, EventKind.RUN_CANCELLED, wanted="cancel")


async def pause(pool: Pool, target: UUID) -> Steered:
    """Put a run, or all open runs of a batch, aside. A worker finishes the call it is in. Raises as `cancel`."""
    return await _stop(pool, target, [RunState.QUEUED], RunState.PAUSED, EventKind.RUN_PAUSED, wanted="pause")


async def resume(pool: Pool, target: UUID, *, budget_usd: Decimal | None = None) -> Steered:
    """Let what was paused go on; with a higher budget where the batch's is spent.

    Raises:
        NotFound: There is no such batch or run.
        Conflict: Nothing of it is paused, or the budget is spent and no higher one is given.
    """
    async with pool.connection() as connection, connection.transaction():
        batch_id = await _batch_of(connection, target)
        return await _go_on(connection, target, [RunState.PAUSED], "resumed", budget=(batch_id, budget_usd))


async def retry(pool: Pool, target: UUID) -> Steered:
    """Try what failed or was cancelled again, from where its journal ends. Raises as `resume`."""
    async with pool.connection() as connection, connection.transaction():
        batch_id = await _batch_of(connection, target)
        ended = [RunState.FAILED, RunState.CANCELLED]
        return await _go_on(connection, target, ended, "tried again", budget=(batch_id, None))


async def _stop(  # what differs between cancel and pause
    pool: Pool, target: UUID, from_states: Sequence[RunState], state: RunState, kind: EventKind, wanted: str
) -> Steered:
    data = {"reason": "asked for"}
    args = {
        "id": target,
        "from_states": from_states,
        "state": state,
        "kind": kind,
        "data": json.dumps(data),
        "closes": state.is_final,
        "wanted": wanted,
    }
    async with pool.connection() as connection, connection.transaction():
        batch_id = await _batch_of(connection, target)
        await connection.execute(SQL["hold"], args)
        stopped = await (await connection.execute(SQL["stop_waiting"], args)).fetchall()
        asked = await (await connection.execute(SQL["want"], args)).fetchall()
        if not stopped and not asked:
            await _refuse(connection, target, f"nothing of it can be {state}")
        events = [Event(batch_id, row["id"], row["seq"], kind, row["at"], data) for row in stopped]
        if state.is_final and stopped:
            events += await _close(connection, batch_id, stopped)
    return Steered(len(stopped), [row["id"] for row in asked], [], events)


async def _close(
    connection: AsyncConnection[DictRow], batch_id: UUID, stopped: Sequence[DictRow]
) -> list[Event]:
    args = {"batch_id": batch_id, "change": -len(stopped)}
    row = await (await connection.execute(SQL["count_open"], args)).fetchone()
    if row is None or row["open_runs"] > 0:
        return []
    return [await close_batch(connection, batch_id=batch_id, run_id=stopped[-1]["id"])]


async def _go_on(
    connection: AsyncConnection[DictRow],
    target: UUID,
    from_states: Sequence[RunState],
    reason: str,
    *,
    budget: tuple[UUID, Decimal | None],
) -> Steered:
    batch_id, budget_usd = budget
    reopens = RunState.FAILED in from_states
    args: dict[str, Any] = {
        "id": target,
        "from_states": from_states,
        "unwants": not reopens,
        "reopens": reopens,
        "more_turns": MORE_TURNS,
        "reason": reason,
    }
    rows = await (await connection.execute(SQL["go_on"], args)).fetchall()
    if not rows:
        states = " or ".join(from_states)
        await _refuse(connection, target, f"nothing of it is {states}")
    if reopens:
        await connection.execute(SQL["count_open"], {"batch_id": batch_id, "change": len(rows)})
    await _check_budget(connection, batch_id, budget_usd)
    back = [row for row in rows if row["was"] != RunState.RUNNING]
    events = [
        Event(
            batch_id,
            row["id"],
            row["seq"],
            EventKind.RUN_QUEUED,
            row["at"],
            {"role": row["role"], "topic": row["topic"], "reason": reason},
        )
        for row in back
    ]
    waiting = [Waiting(row["id"], row["role"], row["subject"], row["topic"]) for row in back]
    return Steered(len(rows), [], waiting, events)


async def _check_budget(
    connection: AsyncConnection[DictRow], batch_id: UUID, budget_usd: Decimal | None
) -> None:
    args = {"batch_id": batch_id, "budget_usd": budget_usd}
    row = await (await connection.execute(SQL["raise_budget"], args)).fetchone()
    if row is not None and row["budget_usd"] is not None and row["spent_usd"] >= row["budget_usd"]:
        raise Conflict(
            f"The batch has spent {row['spent_usd']:.4f} of its {row['budget_usd']:.4f} USD. "
            "Give it a higher --budget-usd to go on."
        )


async def _batch_of(connection: AsyncConnection[DictRow], target: UUID) -> UUID:
    row = await (await connection.execute(SQL["batch_of"], {"id": target})).fetchone()
    if row is None:
        raise NotFound(f"There is no batch or run {target}.")
    found: UUID = row["batch_id"]
    return found


async def _refuse(connection: AsyncConnection[DictRow], target: UUID, why: str) -> None:
    rows = await (await connection.execute(SQL["states"], {"id": target})).fetchall()
    states = ", ".join(f"{row['runs']} {row['state']}" for row in rows)
    raise Conflict(f"{target} stays as it is: {why} ({states}).")
