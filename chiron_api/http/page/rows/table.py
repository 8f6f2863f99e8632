"""Rows of a batch or a run as a table of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.rows.reading import AnswerRow, row_page
from chiron_workers.runs.columns import Column

ROWS_PER_PAGE = 50
FIRST_ROWS = 10  # on the page of a batch or a run


@dataclass(frozen=True, slots=True)
class RowTable:
    """Rows in their columns. `path` is that of their batch or run; after the row `next` more follow, where there is one."""

    path: str
    columns: Sequence[Column]
    rows: Sequence[AnswerRow]
    next: UUID | None


async def load(
    pool: Pool, target: UUID, *, path: str, limit: int = FIRST_ROWS, after: UUID | None = None
) -> RowTable | None:
    """The rows of a batch or a run from the first or from one on; None where it was asked for no rows. Raises NotFound."""
    columns = await columns_asked_for(pool, target)
    if not columns:
        return None
    rows = await row_page(pool, target, columns, after=after, limit=limit + 1)
    return RowTable(path, columns, rows[:limit], rows[limit - 1].id if len(rows) > limit else None)
