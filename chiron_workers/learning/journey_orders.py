"""What the steps of a journey have ordered, and what that has cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast
from uuid import UUID

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.knowledge.drafts.citable_facts import Scope
from chiron_workers.learning.journeys import Journey
from chiron_workers.runs.session import Session

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class StepBatch:
    """A batch that the present step has ordered or waits for: its runs counted by state, and what one that failed or paused says.

    `is_own` where it is the learner's; others say nothing.
    """

    batch_id: UUID
    is_own: bool
    under_way: int
    paused: int
    completed: int
    failed: int
    cancelled: int
    message: str | None


async def note_orders(
    session: Session,
    journey: Journey,
    batch_ids: Sequence[UUID],
    *,
    node_id: UUID | None = None,
) -> bool:
    """Note what the present step has ordered; False where that is noted, or the step is over."""
    args = {
        "id": journey.id,
        "learner": journey.learner,
        "step": journey.step,
        "order_step": journey.order_step,
        "state": journey.state,
        "batch_ids": list(batch_ids),
        "node_id": node_id,
    }
    # Batches count for its cost also where somebody was quicker.
    await session.write(SQL["note_batches"], args)
    return bool(await session.write(SQL["note_orders"], args))


async def lock_orders(session: Session, journey: Journey, node_id: UUID | None) -> list[UUID]:
    """Let no other learner order the same until the session ends; the batch of one who has ordered it already."""
    args = {
        "id": journey.id,
        "subject_id": journey.subject_id,
        "state": journey.state,
        "purpose": journey.purpose,
        "depth": journey.depth,
        "node_id": node_id,
    }
    await session.lock(
        SQL["lock_orders"], args, keys=[f"orders {journey.subject_id} {journey.state} {node_id}"]
    )
    return [row["batch_id"] for row in await session.rows(SQL["orders_of_others"], args)]


async def note_quiz(session: Session, journey: Journey, quiz_id: UUID) -> None:
    """Note the quiz by which the learner exercises now."""
    await session.write(SQL["note_quiz"], {"id": journey.id, "step": journey.step, "quiz_id": quiz_id})


async def load_orders(pool: Pool, journey: Journey) -> tuple[list[UUID], UUID | None]:
    """The batches that the present step has ordered, noted or not, and the node that they are about."""
    args = {
        "key": journey.order_key,
        "learner": journey.learner,
        "state": journey.state,
        "subject_id": journey.subject_id,
        "moved_at": journey.moved_at,
    }
    rows = await Session(pool).rows(SQL["orders"], args)
    node_ids = [Scope.of(row["scope"], subject_id=journey.subject_id).node_id for row in rows if row["scope"]]
    return [row["batch_id"] for row in rows], next(iter(node_ids), None)


async def step_batches(session: Session, journey: Journey) -> list[StepBatch]:
    """The batches of the present step."""
    args = {"id": journey.id, "order_step": journey.order_step}
    return [StepBatch(**row) for row in await session.rows(SQL["batches"], args)]


async def own_open_batches(pool: Pool, journey: Journey) -> list[UUID]:
    """The batches that it has ordered and that are not over."""
    return [row["batch_id"] for row in await Session(pool).rows(SQL["own_open_batches"], {"id": journey.id})]


async def load_paused(pool: Pool, journey: Journey) -> dict[UUID, Decimal]:
    """The runs and batches that it has ordered and that can be continued, with what each has spent in USD.

    These are paused, or have used all their turns: ordered anew they would be paid for again.
    """
    rows = await Session(pool).rows(SQL["paused"], {"id": journey.id})
    return {row["target"]: row["spent_usd"] for row in rows}


async def spent_usd(session: Session, journey: Journey) -> Decimal:
    """What the learner's own batches of a journey have cost so far in USD, pruned ones too."""
    row = await session.row(SQL["spent"], {"id": journey.id})
    return cast("Decimal", row["usd"]) if row else Decimal(0)
