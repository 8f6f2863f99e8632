"""What a learner knows of the nodes of a subject, and which questions are due for review."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.knowledge.coverage.assessments import MASTERY_MIN, mastery
from chiron_workers.knowledge.coverage.nodes import NODES_MAX
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES

HERE = Path(__file__).parent
SQL = load(__file__, HERE / "questions.sql", HERE.parent / "coverage" / "assessments.sql")


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """A node with its learner's mastery, a probability, and what can be asked about it.

    `due` of its `questions` are due for review; `next_review` is when the next one is, also where that has passed.
    """

    node_id: str
    title: str
    attempts: int
    correct: int
    mastery: float
    mastered: bool
    last_answered_at: datetime | None
    questions: int
    due: int
    next_review: datetime | None


async def load_progress(session: Session, subject_id: str) -> list[NodeProgress]:
    """The progress of the session's owner on each node of a subject's map, in the order of its depth."""
    args = {
        "subject_id": subject_id,
        "learner": session.caller.owner,
        "statuses": list(SHOWN_STATUSES),
        "limit": NODES_MAX,
    }
    # In a thread: the answers of years take many milliseconds, for which no request waits.
    return await asyncio.to_thread(_progress, await session.rows(SQL["of_a_subject"], args))


def _progress(rows: Sequence[DictRow]) -> list[NodeProgress]:
    items = []
    for row in rows:
        probability = mastery(row["answers"])
        items.append(
            NodeProgress(
                node_id=row["node_id"],
                title=row["title"],
                attempts=row["attempts"],
                correct=row["right_ones"],
                mastery=round(probability, 4),
                mastered=probability >= MASTERY_MIN,
                last_answered_at=row["last_answered_at"],
                questions=row["questions"],
                due=row["due"],
                next_review=row["next_review"],
            )
        )
    return items
