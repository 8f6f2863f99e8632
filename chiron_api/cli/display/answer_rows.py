"""Rows that runs handed in, as `chiron results` prints them below each run."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from chiron_api.text import one_line
from chiron_api.transfer.rows.csv_rows import note_of
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell, all_rows
from chiron_workers.knowledge.rows.values import written
from chiron_workers.runs.columns import Column


async def row_texts(pool: Pool, run_id: UUID, columns: Sequence[Column]) -> AsyncIterator[str]:
    """The rows of a run, a block of lines each."""
    async for page in all_rows(pool, run_id, columns):
        for row in page:
            yield _row_text(row, columns)


def _row_text(row: AnswerRow, columns: Sequence[Column]) -> str:
    width = max(len(column.name) for column in columns)
    lines = [
        f"    {column.name:{width}}  {_cell_text(cell)}"
        for column, cell in zip(columns, row.cells, strict=True)
    ]
    return "\n".join([f"  Row {row.n}", *lines, "", ""])


def _cell_text(cell: Cell) -> str:
    if cell.value is None:
        return f"— {one_line(cell.reason)}"
    note = f"  ({one_line(note_of(cell))})" if note_of(cell) else ""
    return f"{one_line(written(cell.value))}{note}"
