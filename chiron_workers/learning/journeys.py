"""Journeys: where each learner stands on the way through a subject. Every move is a guarded update of one row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import Principal
from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound
from chiron_workers.learning.transitions import next_state
from chiron_workers.problems import start_journey
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import SHOWN_STATUSES, AccessScope, JourneyEvent, JourneyState

SQL = load(__file__, Path(__file__).parent.parent / "knowledge" / "assessment" / "questions.sql")
JOURNEYS_MAX = 100  # of a list
MOVES_MAX = 100
STATUSES = list(SHOWN_STATUSES)  # of facts that questions rest on
# After these an idle journey goes on where it was; after others it begins anew.
HELD_EVENTS = frozenset({JourneyEvent.PAUSED, JourneyEvent.RUN_FAILED, JourneyEvent.CANCELLED})
# After these a journey stays at its node: what questions were written about is taught, and then asked about.
SAME_NODE_EVENTS = frozenset(
    {
        JourneyEvent.QUESTIONS_WRITTEN,
        JourneyEvent.LESSON_WRITTEN,
        JourneyEvent.LESSON_STALE,
        JourneyEvent.LESSON_READ,
        JourneyEvent.PAUSED,
        JourneyEvent.RUN_FAILED,
        JourneyEvent.CANCELLED,
        JourneyEvent.RESUMED,
    }
)


@dataclass(frozen=True, slots=True)
class Journey:
    """A journey as its row has it. `held_state` is where an idle one goes on; None where it begins anew."""

    id: UUID
    learner: str
    key_id: UUID | None
    subject_id: str
    purpose: str
    depth: str
    model: str
    facts_min: int
    budget_usd: Decimal | None
    needs_map: bool
    state: JourneyState
    event: JourneyEvent
    reason: str
    held_state: JourneyState | None
    step: int
    order_step: int
    ordered_at: datetime | None
    node_id: UUID | None
    quiz_id: UUID | None
    skipped_node_ids: list[UUID]
    created_at: datetime
    moved_at: datetime

    @property
    def order_key(self) -> str:
        """The idempotency key of what its present step orders."""
        return f"journey {self.id} {self.order_step}"

    @property
    def principal(self) -> Principal:
        """In whose name it orders."""
        return Principal(self.learner, AccessScope.SUBMIT, key_id=self.key_id)

    @property
    def caller(self) -> Caller:
        """Whose quizzes and answers are read."""
        return Caller(self.learner, key_id=self.key_id, is_admin=False)


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a journey: the event, and the state it led to."""

    step: int
    event: JourneyEvent
    state: JourneyState
    at: datetime


async def journeys_of(pool: Pool, learner: str) -> list[Journey]:
    """The journeys of a learner, the one that moved last first; 100 at most."""
    args = {"learner": learner, "subject_id": None, "limit": JOURNEYS_MAX}
    return [_journey(row) for row in await Session(pool).rows(SQL["of_a_learner"], args)]


async def find_journey(session: Session, learner: str, subject_id: str) -> Journey | None:
    """The journey of a learner through a subject; None where there is none."""
    args = {"learner": learner, "subject_id": subject_id, "limit": 1}
    row = await session.row(SQL["of_a_learner"], args)
    return _journey(row) if row else None


async def require_journey(pool: Pool, learner: str, subject_id: str) -> Journey:
    """The journey of a learner through a subject. Raises NotFound, saying how one is begun."""
    journey = await find_journey(Session(pool), learner, subject_id)
    if journey is None:
        raise NotFound(
            f"There is no journey through {subject_id!r} yet.", remedies=(start_journey(subject_id),)
        )
    return journey


async def load_journey(pool: Pool, journey_id: UUID) -> Journey | None:
    """A journey by its id; None once it is deleted."""
    row = await Session(pool).row(SQL["by_id"], {"id": journey_id})
    return _journey(row) if row else None


async def load_due(pool: Pool, *, limit: int, except_ids: Sequence[UUID] = ()) -> dict[UUID, bool]:
    """The journeys that have something to order, or whose orders are done, but for some; the longest waiting first.

    Each with whether the last look at it has failed.
    """
    args = {"limit": limit, "statuses": STATUSES, "except_ids": list(except_ids)}
    return {row["id"]: row["has_failed"] for row in await Session(pool).rows(SQL["due"], args)}


async def move(
    session: Session, journey: Journey, event: JourneyEvent, reason: str = "", *, node_id: UUID | None = None
) -> bool:
    """Move a journey on from where it was read; False where somebody else has moved it meanwhile.

    Args:
        node_id: The node that comes next; None leaves the one that it has where the event is about that.

    Raises:
        Conflict: The event does not happen in its state.
    """
    state = next_state(journey.state, event, journey.held_state)
    is_held = state is JourneyState.IDLE and event in HELD_EVENTS
    resumes = event is JourneyEvent.RESUMED and journey.event is JourneyEvent.PAUSED
    args = {
        "id": journey.id,
        "step": journey.step,
        "state": state,
        "event": event,
        "reason": reason,
        "held_state": journey.state if is_held else None,
        "keeps_orders": event is JourneyEvent.PAUSED or resumes,
        "keeps_node": event in SAME_NODE_EVENTS,
        "node_id": node_id,
    }
    await session.write(SQL["settle_costs"], args)
    is_moved = bool(await session.write(SQL["move"], args))
    if is_moved:
        await record_within(await session.begin(), journeys=journey.id)
    return is_moved


async def ended_key(pool: Pool, journey: Journey) -> str | None:
    """The name of the key that it was begun with, once that is revoked or has expired."""
    row = await Session(pool).row(SQL["ended_key"], {"key_id": journey.key_id})
    return row["name"] if row else None


async def moves_of(session: Session, journey: Journey) -> list[Move]:
    """Its last moves, the newest first; 100 at most."""
    rows = await session.rows(SQL["moves"], {"id": journey.id, "limit": MOVES_MAX})
    return [
        Move(row["step"], JourneyEvent(row["event"]), JourneyState(row["state"]), row["at"]) for row in rows
    ]


async def next_review_at(session: Session, journey: Journey) -> datetime | None:
    """When the learner is to be asked something of the subject again; None where nothing was answered."""
    args = {"learner": journey.learner, "subject_id": journey.subject_id}
    row = await session.row(SQL["next_review"], args)
    return row["due_at"] if row else None


async def is_review_due(session: Session, journey: Journey) -> bool:
    """Whether something of the subject is to be asked again now."""
    row = await session.row(SQL["is_review_due"], {"id": journey.id, "statuses": STATUSES})
    return bool(row and row["is_due"])


def _journey(row: DictRow) -> Journey:
    held_state = row["held_state"]
    return Journey(
        **row
        | {
            "state": JourneyState(row["state"]),
            "event": JourneyEvent(row["event"]),
            "held_state": JourneyState(held_state) if held_state else None,
        }
    )
