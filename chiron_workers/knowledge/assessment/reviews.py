"""When a learner is to be asked a question again: the cards of FSRS, one for each learner and question."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from fsrs import Card, Rating, Scheduler, State

from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session

SQL = load(__file__)
# Without chance, so that an answer taken twice has one due time. All else is the library's own.
SCHEDULER = Scheduler(enable_fuzzing=False)
CARD_ID = 1  # a card is known by learner, node and question; the library would wait a millisecond for an id


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer whose mark is settled."""

    learner: str
    node_id: UUID
    question_hash: str
    is_right: bool
    at: datetime


def review(card: Card | None, *, is_right: bool, at: datetime) -> Card:
    """The card after an answer; None: the first one. A right answer is rated Good, a wrong one Again."""
    at = at.astimezone(UTC)  # the library takes no other zone
    rating = Rating.Good if is_right else Rating.Again
    return SCHEDULER.review_card(card or Card(CARD_ID, due=at), rating, at)[0]


class Reviews:
    """The cards of learners."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def schedule(self, answer: Answered) -> datetime:
        """Move the card of a question by an answer to it; when it is due next. It writes."""
        args = {
            "learner": answer.learner,
            "node_id": answer.node_id,
            "question_hash": answer.question_hash,
        }
        await self._session.write(SQL["lock"], args)
        row = await self._session.row(SQL["get"], args)
        at = answer.at
        card = None
        if row is not None:
            card = Card(
                CARD_ID,
                State(row["state"]),
                row["step"],
                row["stability"],
                row["difficulty"],
                row["due_at"].astimezone(UTC),
                row["last_review_at"].astimezone(UTC),
            )
            at = max(at, row["last_review_at"])  # an answer may be settled after a later one
        card = review(card, is_right=answer.is_right, at=at)
        columns = {
            "state": card.state.value,
            "step": card.step,
            "stability": card.stability,
            "difficulty": card.difficulty,
            "due_at": card.due,
            "last_review_at": at,
        }
        await self._session.write(SQL["put"], args | columns)
        return card.due

    async def next_review(self, node_id: UUID) -> datetime | None:
        """When the caller is to be asked about a node next; None where nothing of it was answered."""
        args = {"learner": self._session.caller.owner, "node_id": node_id}
        row = await self._session.row(SQL["next_review"], args)
        return row["due_at"] if row else None
