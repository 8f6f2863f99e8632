from collections.abc import Sequence
from typing import TypedDict
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.runs.entries import storable
from chiron_workers.runs.fence import json_text
from chiron_workers.runs.session import Session

SQL = load(__file__)


class Score(TypedDict):
    """The score of a text by one criterion, 1 to 5; `quote` are the words of the text that it rests on."""

    criterion: str
    weight: float
    score: int
    reason: str
    quote: str


class Evaluations:
    """Texts that a model scored, with its scores and reasons."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(
        self, *, text: str, question: str, model: str, scores: Sequence[Score], overall: float
    ) -> UUID:
        """Store the scores of a text; the id of the evaluation."""
        caller, evaluation_id = self._session.caller, new_id()
        args = {
            "id": evaluation_id,
            "run_id": caller.run_id,
            "call_id": caller.call_id,
            "subject_id": caller.subject_id,
            "model": model,
            "question": storable(question),
            "text": storable(text),
            "scores": json_text(scores),
            "overall": overall,
        }
        await self._session.write(SQL["add"], args)
        return evaluation_id
