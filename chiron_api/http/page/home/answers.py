"""The newest answers as the home page shows them: the question, its first sentences, what came of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.http.page.answers import first_sentences


@dataclass(frozen=True, slots=True)
class LatestAnswer:
    """A run that completed; `facts` are those that it stored, confirmed or cites. `is_new`: since the last visit."""

    id: UUID
    number: int
    batch_id: UUID
    batch_name: str
    subject_id: str
    topic: str
    summary: str
    facts: int
    nothing_found: bool
    finished_at: datetime
    is_new: bool


def latest_answer(row: DictRow, *, since: datetime) -> LatestAnswer:
    """A row of the statement, with the first sentences of its answer."""
    answer = row.pop("answer")
    return LatestAnswer(**row, summary=first_sentences(answer or ""), is_new=row["finished_at"] > since)
