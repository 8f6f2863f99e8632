"""The orchestrator: takes journeys from state to state as their orders are done. Any worker may do it, at any time.

A look at a journey orders what its state needs, or moves it by one event. An order is submitted under the key of the journey and
its step before it is noted, and a move names the step that it begins from. So whoever is killed, or does the same at the same
time, leaves rows from which the next look goes on, and nothing is ordered twice.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from chiron_workers.batches.steering import cancel
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_transient
from chiron_workers.duty_failures import is_fault_of_process, isolated
from chiron_workers.errors import (
    Conflict,
    KeyBudgetSpent,
    NotFound,
    ServiceUnavailable,
    ToolError,
    UsageError,
)
from chiron_workers.learning.journey_orders import StepBatch, note_orders, own_open_batches, step_batches
from chiron_workers.learning.journey_steps import WAIT, BudgetReached, Step, take_step
from chiron_workers.learning.journeys import Journey, ended_key, load_due, load_journey, move
from chiron_workers.learning.transitions import WORKING_STATES
from chiron_workers.runs.session import Session
from chiron_workers.states import Duty, JourneyEvent, JourneyState

log = structlog.get_logger()

JOURNEYS_PER_PASS = 10  # of one look, so that it stays short; the next one goes on


@dataclass(frozen=True, slots=True)
class Advance:
    """What a look at a journey came to: whether it moved, and the batches it ordered, of which workers are to be notified."""

    journey: Journey
    event: JourneyEvent | None = None
    batch_ids: tuple[UUID, ...] = ()

    @property
    def has_changed(self) -> bool:
        """Whether another look may find more to do at once."""
        return self.event is not None


async def advance_due(pool: Pool) -> list[Advance]:
    """Look at the journeys that have something to do; what became of those that moved or ordered something.

    Where the first of them only wait, for what another learner is about to submit, the next ones are looked at.
    """
    waiting_ids: list[UUID] = []
    while due := await load_due(pool, limit=JOURNEYS_PER_PASS, except_ids=waiting_ids):
        advances = []
        for journey_id, has_failed in due.items():
            async with isolated(pool.connection, Duty.JOURNEYS, journey_id, has_failed=has_failed):
                if (journey := await load_journey(pool, journey_id)) is not None:
                    advances.append(await _advance_alone(pool, journey))
        if news := [item for item in advances if item.has_changed or item.batch_ids]:
            return news
        waiting_ids += due
    return []


async def _advance_alone(pool: Pool, journey: Journey) -> Advance:
    """Look at one journey of many: what breaks there holds that one, and no other."""
    try:
        return await advance(pool, journey)
    except Exception as error:  # a worker has other journeys, and hundreds of runs
        if isinstance(error, ServiceUnavailable) or is_transient(error) or is_fault_of_process(error):
            raise
        log.exception("journey.broken", journey_id=str(journey.id), state=journey.state)
        if journey.state not in WORKING_STATES:
            raise
        reason = f"A fault of the program: {type(error).__name__}. The worker's log has it."
        async with Session(pool) as session:
            is_moved = await move(session, journey, JourneyEvent.RUN_FAILED, reason)
        return Advance(journey, JourneyEvent.RUN_FAILED if is_moved else None)


async def advance(pool: Pool, journey: Journey) -> Advance:
    """Look at one journey once.

    Raises:
        ServiceUnavailable: Something that it needs is away; a later look goes on.
    """
    step = await _look(pool, journey)
    if step.event is not None:
        async with Session(pool) as session:
            is_moved = await move(session, journey, step.event, step.reason, node_id=step.node_id)
        return Advance(journey, step.event if is_moved else None)
    if step.batch_ids is None:
        return Advance(journey)
    async with Session(pool) as session:
        is_noted = await note_orders(session, journey, step.batch_ids, node_id=step.node_id)
    if not is_noted:
        await _cancel_late_orders(pool, journey)
    return Advance(journey, batch_ids=step.batch_ids)


async def _cancel_late_orders(pool: Pool, journey: Journey) -> None:
    """Cancel what was ordered while the learner stopped the journey, who saw nothing of it to cancel."""
    current = await load_journey(pool, journey.id)
    if current is None or current.event is not JourneyEvent.CANCELLED:
        return
    for batch_id in await own_open_batches(pool, current):
        with contextlib.suppress(Conflict):  # it has ended meanwhile
            await cancel(pool, batch_id)


async def _look(pool: Pool, journey: Journey) -> Step:
    if journey.state not in WORKING_STATES:
        return await take_step(pool, journey)
    if journey.ordered_at is not None and (
        step := _outcome(journey, await step_batches(Session(pool), journey))
    ):
        return step
    if name := await ended_key(pool, journey):
        return Step(JourneyEvent.RUN_FAILED, f"The key {name!r} that began it was revoked or has expired.")
    try:
        return await take_step(pool, journey)
    except (BudgetReached, KeyBudgetSpent) as error:
        return Step(JourneyEvent.PAUSED, str(error))
    except (UsageError, ToolError, NotFound, Conflict) as error:
        return Step(JourneyEvent.RUN_FAILED, str(error))


def _outcome(journey: Journey, batches: Sequence[StepBatch]) -> Step | None:
    """What the runs of a step have come to; None where they have done something that the step can go on from."""
    if any(batch.under_way for batch in batches):
        return WAIT
    message = next((batch.message for batch in batches if batch.message), "")
    for batch in batches:
        # What another learner has paused is ordered anew, but for research: of a node there is one at a time.
        if batch.paused and (batch.is_own or journey.state is JourneyState.RESEARCHING):
            return Step(JourneyEvent.PAUSED, f"Batch {batch.batch_id} is paused. {message}".strip())
    # What another learner has cancelled, or could not pay for, is ordered anew.
    own_batches = [batch for batch in batches if batch.is_own]
    failed, cancelled = (
        sum(getattr(batch, name) for batch in own_batches) for name in ("failed", "cancelled")
    )
    if any(batch.completed for batch in batches) or not failed + cancelled:
        return None
    if not failed:
        return Step(JourneyEvent.CANCELLED, f"Batch {own_batches[0].batch_id} was cancelled.")
    return Step(JourneyEvent.RUN_FAILED, f"Batch {own_batches[0].batch_id} failed. {message}".strip())
