"""The facts of a subject, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class ListedFact:
    """A fact as a list shows it."""

    id: UUID
    subject_id: str
    content: str
    quote: str | None
    quote_state: str
    verdict: str
    source_url: str
    topic_path: str
    confidence: float
    status: str
    run_id: UUID | None
    created_at: datetime


async def newest_facts(
    session: Session,
    subject_id: str,
    statuses: Sequence[FactStatus],
    *,
    limit: int,
    before: UUID | None = None,
) -> list[ListedFact]:
    """The facts of a subject in some statuses, newest first; with `before` those older than that fact."""
    args = {"subject_id": subject_id, "statuses": list(statuses), "before": before, "limit": limit}
    return [ListedFact(**row) for row in await session.rows(SQL["page"], args)]
