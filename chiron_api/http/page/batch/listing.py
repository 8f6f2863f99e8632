from dataclasses import dataclass
from uuid import UUID

from chiron_api.acts.inputs import Input
from chiron_workers.batches.summaries import BatchSummary, newest
from chiron_workers.db.connect import Pool

BATCHES_PER_PAGE = 50


class Options(Input):
    """The query string of the list of batches."""

    before: UUID | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of batches, newest first; `before` leads to the next one, if there is one."""

    batches: list[BatchSummary]
    before: UUID | None


async def load(pool: Pool, *, before: UUID | None, owner: str | None = None) -> Listing:
    """A page of batches; with `owner` those of one owner."""
    batches = await newest(pool, limit=BATCHES_PER_PAGE + 1, before=before, owner=owner)
    entries = batches[:BATCHES_PER_PAGE]
    return Listing(entries, entries[-1].id if len(batches) > len(entries) else None)
