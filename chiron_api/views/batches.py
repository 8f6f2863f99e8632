from dataclasses import fields
from typing import Any
from uuid import UUID

from chiron_workers.batches.summaries import BatchSummary
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.session import Session
from chiron_workers.subscriptions.occurrences import occurrence_of

ENTRIES_MAX = 20  # of each kind of change


async def difference_of(pool: Pool, batch_id: UUID) -> SubjectDiff | None:
    """What a batch that a subscription started has changed; None for any other batch, or one that is not finished."""
    time = await occurrence_of(Session(pool), batch_id, entries_max=ENTRIES_MAX)
    return time.difference if time else None


def batch_page(batch: BatchSummary, difference: SubjectDiff | None) -> dict[str, Any]:
    """The fields of a summary, with its difference if there is one."""
    page = {field.name: getattr(batch, field.name) for field in fields(BatchSummary)}
    return page | ({"difference": difference} if difference else {})
