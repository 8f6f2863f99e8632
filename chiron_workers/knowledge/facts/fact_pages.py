"""The facts of a subject, or of all, page by page."""

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
    subject_id: str | None,
    statuses: Sequence[FactStatus],
    *,
    limit: int,
    since: datetime | None = None,
    before: UUID | None = None,
) -> list[ListedFact]:
    """The facts of a subject, or of all, in some statuses, newest first.

    Args:
        since: Only those stored since then.
        before: Only those older than this fact.
    """
    args = {"statuses": list(statuses), "since": since, "before": before, "limit": limit}
    if subject_id is None:
        rows = await session.rows(SQL["page_of_all"], args)
    else:
        rows = await session.rows(SQL["page"], args | {"subject_id": subject_id})
    return [ListedFact(**row) for row in rows]
