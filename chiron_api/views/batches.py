from dataclasses import fields
from typing import Any
from uuid import UUID

from chiron_workers.batches.cost_to_finish import CostToFinish, cost_to_finish_paused
from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.session import Session
from chiron_workers.states import RunState
from chiron_workers.subscriptions.occurrences import occurrence_of

ENTRIES_MAX = 20  # of each kind of change


async def difference_of(pool: Pool, batch_id: UUID) -> SubjectDiff | None:
    """What a batch that a subscription started has changed; None for any other batch, or one that is not finished."""
    time = await occurrence_of(Session(pool), batch_id, entries_max=ENTRIES_MAX)
    return time.difference if time else None


async def cost_to_finish_of(pool: Pool, item: BatchSummary | RunSummary) -> CostToFinish | None:
    """The budget that lets a batch or a run finish which paused at one; None for any other."""
    is_paused = (
        bool(item.runs[RunState.PAUSED]) if isinstance(item, BatchSummary) else item.state is RunState.PAUSED
    )
    return await cost_to_finish_paused(pool, item.id) if is_paused else None


def batch_page(
    batch: BatchSummary, difference: SubjectDiff | None, cost: CostToFinish | None = None
) -> dict[str, Any]:
    """The fields of a summary, with its difference and its cost to finish, if there are any."""
    return summary_fields(batch, difference=difference, cost_to_finish=cost)


def summary_fields(item: BatchSummary | RunSummary, **extras: object) -> dict[str, Any]:
    """The fields of a summary, with the extras that are set."""
    page = {field.name: getattr(item, field.name) for field in fields(item)}
    return page | {name: value for name, value in extras.items() if value}
