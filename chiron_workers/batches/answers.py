"""What runs came to, for whoever takes the results further: all runs of a batch, however many."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound
from chiron_workers.runs.usage import USAGE_SQL, RunUsage
from chiron_workers.states import RunState

SQL = load(__file__, USAGE_SQL)
PAGE_ROWS = 100  # answers can be long


@dataclass(frozen=True, slots=True)
class Result(RunUsage):
    """A run as far as it has come: `answer` is None until it has completed once, `error` is {kind, message} or None."""

    id: UUID
    batch_id: UUID
    topic: str
    role: str
    subject_id: str
    state: RunState
    answer: str | None
    silent: bool
    error: dict[str, str] | None
    facts: int
    confirmed: int
    finished_at: datetime | None


async def results(pool: Pool, target: UUID) -> AsyncGenerator[list[Result]]:
    """The results of a run, or of all runs of a batch in the order of its topics, in pages of at most PAGE_ROWS.

    No transaction stays open between two pages, so a slow reader holds up nobody.

    Raises:
        NotFound: There is no such batch or run.
    """
    page = await _page(pool, target, None)
    if not page:
        raise NotFound(f"No batch and no run has the id {target}. `chiron list` shows the batches.")
    while page:
        yield page
        page = await _page(pool, target, page[-1].id) if len(page) == PAGE_ROWS else []


async def _page(pool: Pool, target: UUID, after: UUID | None) -> list[Result]:
    args = {"id": target, "after": after, "limit": PAGE_ROWS}
    rows = await fetch_all(pool, SQL["page"], args)
    return [Result(**{**row, "state": RunState(row["state"])}) for row in rows]
