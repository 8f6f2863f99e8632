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
    """How a text does by one criterion, 1 to 5; `quote` is the words of the text that this rests on."""

    criterion: str
    weight: float
    score: int
    reason: str
    quote: str


class Evaluations:
    """Texts that were judged, with the scores and the reasons."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(
        self, *, text: str, question: str, model: str, scores: Sequence[Score], overall: float
    ) -> UUID:
        """Keep what a model made of a text; its id."""
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
