"""Steering from outside: cancel, pause, resume and retry, for a run or for all runs of a batch, which may be 100,000."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.access.allotments import reopen
from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.cost_to_finish import cost_to_finish_paused
from chiron_workers.billing.budgets import (
    Budget,
    freeze_missing_prices,
    pay_for_runs,
    raise_run_budgets,
    set_budget,
)
from chiron_workers.db.connect import Pool, rows_of
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound
from chiron_workers.problems import Noun, Remedy, RemedyAction
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.events import ON_REQUEST, Event
from chiron_workers.runs.leases import MORE_TURNS
from chiron_workers.runs.model_holds import lift
from chiron_workers.runs.notices import announce
from chiron_workers.states import FINAL_STATES, AllotmentAct, EventKind, RunState, StopRequest

SQL = load(__file__)
NO_CHANGE = Budget()
# The act that continues a run in another state, where a retry or a resume is refused.
WAYS_ON: Mapping[str, RemedyAction] = {
    RunState.PAUSED: RemedyAction.RESUME,
    RunState.FAILED: RemedyAction.RETRY,
    RunState.CANCELLED: RemedyAction.RETRY,
}


class _ShortOfMoney(Conflict):
    """A budget, that of a batch or a run, cannot pay the next call."""


@dataclass(frozen=True, slots=True)
class SteeringResult:
    """What a request came to: `changed` runs stopped or go on at once, `requested` are left to the workers that execute them.

    After the commit, publish `events` and notify the workers. `lifted_models` names the models that were held.
    """

    changed: int
    requested: int
    events: list[Event]
    lifted_models: tuple[str, ...] = ()


async def cancel(pool: Pool, target: UUID) -> SteeringResult:
    """End a run, or all open runs of a batch. What a worker plays ends when the worker learns of it.

    Raises:
        NotFound: There is no such batch or run.
        Conflict: Nothing of it is open.
    """
    from_states = [RunState.QUEUED, RunState.PAUSED]
    return await _stop(
        pool, target, from_states, RunState.CANCELLED, EventKind.RUN_CANCELLED, request=StopRequest.CANCEL
    )


async def pause(pool: Pool, target: UUID) -> SteeringResult:
    """Put a run, or all open runs of a batch, aside. A worker finishes the call it is in. Raises as `cancel`."""
    return await _stop(
        pool, target, [RunState.QUEUED], RunState.PAUSED, EventKind.RUN_PAUSED, request=StopRequest.PAUSE
    )


async def resume(
    pool: Pool,
    target: UUID,
    *,
    budget: Budget = NO_CHANGE,
    run_budget: Budget = NO_CHANGE,
    principal: Principal = LOCAL,
) -> SteeringResult:
    """Let what was paused go on; with a higher budget where that of the run or the batch is spent.

    Runs that failed since they used all their turns continue as well, with MORE_TURNS more.

    Models of it that are held are tried again at once: somebody may have raised the limit that they met. So is what was
    handed back to wait. A budget can be raised before it is spent, while nothing is paused.

    Args:
        run_budget: The budget of each open run of a batch; runs with a higher budget, or with none, keep theirs.
        principal: The caller. Its key pays for the growth of the budgets.

    Raises:
        NotFound: There is no such batch or run.
        Conflict: Nothing of it is paused and no model of it held, or the budget cannot pay the next call of any run of it.
        UsageError: The budget is no amount, or cannot bind since a price is not known.
        KeyBudgetSpent: The principal's key has less left.
    """
    try:
        return await _requeue(
            pool, target, [RunState.PAUSED], "resumed", budget, principal, run_budget=run_budget
        )
    except _ShortOfMoney as shortage:
        cost = await cost_to_finish_paused(pool, target)
        if cost is None:
            raise Conflict(str(shortage)) from None
        raise Conflict(f"{shortage} {cost.words}", remedies=(cost.remedy,)) from None


async def retry(
    pool: Pool,
    target: UUID,
    *,
    budget: Budget = NO_CHANGE,
    from_scratch: bool = False,
    principal: Principal = LOCAL,
) -> SteeringResult:
    """Try what failed or was cancelled again, from where its journal ends.

    Args:
        from_scratch: Begin anew instead, also what is completed: nothing of the conversation is carried over, and the
            run gets its turns again. Stored facts and the journal so far are kept.
        principal: Who acts. Its key pays for the rest of the budget of a batch that had ended, and for what a budget grows by.

    Raises:
        NotFound, Conflict, UsageError, KeyBudgetSpent: As `resume`.
    """
    if from_scratch:
        return await _requeue(
            pool,
            target,
            sorted(FINAL_STATES),
            "tried again from scratch",
            budget,
            principal,
            starts_over=True,
        )
    states = [RunState.FAILED, RunState.CANCELLED]
    return await _requeue(pool, target, states, "tried again", budget, principal)


async def _stop(  # what differs between cancel and pause
    pool: Pool,
    target: UUID,
    from_states: Sequence[RunState],
    state: RunState,
    kind: EventKind,
    request: StopRequest,
) -> SteeringResult:
    args = {
        "id": target,
        "from_states": from_states,
        "state": state,
        "kind": kind,
        "data": json.dumps(ON_REQUEST),
        "closes": state.is_final,
        "request": request,
    }
    async with pool.connection() as connection, connection.transaction():
        batch_id = await batch_of(connection, target)
        await connection.execute(SQL["lock"], args)
        stopped_rows = await rows_of(await connection.execute(SQL["stop_waiting"], args))
        requested_rows = await rows_of(await connection.execute(SQL["request_stop"], args))
        if not stopped_rows and not requested_rows:
            await _raise_conflict(connection, target, f"nothing of it can be {state}", batch_id=batch_id)
        events = await asyncio.to_thread(
            lambda: [
                Event(batch_id, row["id"], row["seq"], kind, row["at"], ON_REQUEST) for row in stopped_rows
            ]
        )
        await announce(connection, batch_id, events)
        await record_within(connection, target=target)
    if state.is_final and stopped_rows:
        events += await complete_batch(pool, batch_id)
    return SteeringResult(len(stopped_rows), len(requested_rows), events)


async def _requeue(  # what differs between resume and retry
    pool: Pool,
    target: UUID,
    from_states: Sequence[RunState],
    reason: str,
    budget: Budget,
    principal: Principal,
    *,
    run_budget: Budget = NO_CHANGE,
    starts_over: bool = False,
) -> SteeringResult:
    args = {
        "id": target,
        "from_states": from_states,
        "more_turns": 0 if starts_over else MORE_TURNS,
        "reason": reason,
    }
    async with pool.connection() as connection, connection.transaction():
        batch_id = await batch_of(connection, target)
        await connection.execute(SQL["lock_stopped"], args)
        await freeze_missing_prices(connection, target)
        growths_usd = await raise_run_budgets(connection, target, run_budget)
        batch = await set_budget(connection, target, budget, batch_id=batch_id, principal=principal)
        await pay_for_runs(connection, principal, batch, growths_usd)
        if starts_over:
            await connection.execute(SQL["start_over"], args)
        rows = await rows_of(await connection.execute(SQL["go_on"], args))
        resumes = RunState.PAUSED in from_states
        models = await lift(connection, target) if resumes else ()
        if resumes and not rows and not models:
            await _require_money(connection, args)
        is_raised = resumes and (budget != NO_CHANGE or bool(growths_usd)) and not batch.has_ended
        if not rows and not is_raised and (not models or budget != NO_CHANGE):
            why = f"nothing of it is {' or '.join(from_states)}"
            await _raise_conflict(connection, target, why, batch_id=batch_id, ways_on=WAYS_ON)
        # Besides paused runs, a resume continues runs that used all their turns.
        reopened_count = sum(row["was"] in FINAL_STATES for row in rows)
        if reopened_count:
            await connection.execute(SQL["reopen"], {"batch_id": batch_id, "count": reopened_count})
            await reopen(connection, principal, AllotmentAct.RETRY, batch)
        await record_within(connection, target=target)
    events = await asyncio.to_thread(
        lambda: [_queued(batch_id, row, reason) for row in rows if row["seq"] is not None]
    )
    return SteeringResult(len(rows), 0, events, models)


async def _require_money(connection: AsyncConnection[DictRow], args: Mapping[str, Any]) -> None:
    row = await (await connection.execute(SQL["short_of_money"], args)).fetchone()
    if row is not None:
        shortage = "that cannot pay its next call" if row["is_higher"] else "it has no more money than before"
        raise _ShortOfMoney(f"It stays paused, since {shortage}. {row['message']}")


def _queued(batch_id: UUID, row: DictRow, reason: str) -> Event:
    data = {"role": row["role"], "topic": row["topic"], "reason": reason}
    return Event(batch_id, row["id"], row["seq"], EventKind.RUN_QUEUED, row["at"], data)


async def batch_of(connection: AsyncConnection[DictRow], target: UUID) -> UUID:
    """The batch that a run belongs to, or the batch itself. Raises NotFound."""
    row = await (await connection.execute(SQL["batch_of"], {"id": target})).fetchone()
    if row is None:
        raise NotFound(f"There is no batch or run {target}.")
    batch_id: UUID = row["batch_id"]
    return batch_id


async def _raise_conflict(
    connection: AsyncConnection[DictRow],
    target: UUID,
    why: str,
    *,
    batch_id: UUID,
    ways_on: Mapping[str, RemedyAction] = MappingProxyType({}),
) -> None:
    rows = await (await connection.execute(SQL["states"], {"id": target})).fetchall()
    states = ", ".join(f"{row['runs']} {row['state']}" for row in rows)
    if any(row["state"].endswith(" and pruned") for row in rows):
        why += "; what was pruned has no journal left to go on from"
    noun = Noun.BATCH if target == batch_id else Noun.RUN
    actions = dict.fromkeys(ways_on[row["state"]] for row in rows if row["state"] in ways_on)
    raise Conflict(
        f"{target} stays as it is: {why} ({states}).",
        remedies=[Remedy(action, noun, str(target)) for action in actions],
    )
