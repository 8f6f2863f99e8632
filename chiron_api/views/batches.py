from typing import Any
from uuid import UUID

from chiron_workers.batches.summaries import BatchSummary
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.session import Session
from chiron_workers.subscriptions.occurrences import occurrence_of

LISTED = 20  # of each kind of difference


async def difference_of(pool: Pool, batch_id: UUID) -> SubjectDiff | None:
    """What a time of a subscription has brought; None of a batch that none started, or that is not finished."""
    time = await occurrence_of(Session(pool), batch_id, listed=LISTED)
    return time.difference if time else None


def batch_page(found: BatchSummary, difference: SubjectDiff | None) -> dict[str, Any]:
    """The fields of a summary, with its difference if there is one."""
    told = {"difference": difference} if difference else {}
    return {name: getattr(found, name) for name in BatchSummary.__slots__} | told
