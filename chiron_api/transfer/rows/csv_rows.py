"""Rows as CSV: the topic, the columns, and behind them for each column the ids of its facts and what is to be said of it."""

import csv
import io
from collections.abc import AsyncIterator, Iterable, Sequence
from uuid import UUID

from chiron_api.transfer.csv_writer import guarded
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell, all_rows
from chiron_workers.knowledge.rows.values import Value, written
from chiron_workers.runs.columns import TOPIC, Column


async def csv_rows(pool: Pool, target: UUID, columns: Sequence[Column]) -> AsyncIterator[str]:
    """The text of the file, a page of rows at a time. No spreadsheet takes a cell for a formula."""
    yield _lines([_head(columns)])
    async for page in all_rows(pool, target, columns):
        yield _lines(_line(row) for row in page)


def note_of(cell: Cell) -> str:
    """Why a cell is empty; else how it was calculated, whether its meaning is unchecked, and what became of its facts since."""
    marks = [f"{text}." for text in (cell.calculation, cell.mark) if text]
    return cell.reason or " ".join([*marks, *cell.changes])


def _head(columns: Sequence[Column]) -> list[str]:
    # No column is called like these, since no name has brackets.
    about = [f"{column.name} [{word}]" for column in columns for word in ("facts", "note")]
    return [TOPIC, *(column.name for column in columns), *about, "[run]", "[row]"]


def _line(row: AnswerRow) -> list[str]:
    about = [
        text
        for cell in row.cells
        for text in (" ".join(fact.id for fact in cell.facts), guarded(note_of(cell)))
    ]
    return [
        guarded(row.topic),
        *(_text(cell.value) for cell in row.cells),
        *about,
        str(row.run_id),
        str(row.n),
    ]


def _text(value: Value | None) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else written(value)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
