"""Rows as a workbook: the table, the facts behind its cells, and the topics with how many rows each has."""

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import IO, Any
from uuid import UUID

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from chiron_api.transfer.rows.csv_rows import note_of
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell, TopicRows, all_rows, topics_of
from chiron_workers.runs.columns import TOPIC, Column
from chiron_workers.states import ColumnType

LINES_MAX = 1_000_000  # of a sheet; Excel reads 1,048,576
WIDTH_CHARS = 24  # of a column
TEXT_CHARS_MAX = 32_000  # of a cell; Excel reads 32,767
EXACT_INT_MAX = 10**15  # larger ones lose digits in a spreadsheet, and are written as text
FIRST_YEAR = 1901  # spreadsheets count days from 1900, a year that they take for a leap year
# A text is written as text, never as a formula or a link. Of one that begins like this a spreadsheet is told so as well, since it
# would read it anew when somebody edits the cell.
SIGNS = ("=", "+", "-", "@")
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
EVIDENCE = ("topic", "row", "column", "value", "note", "fact", "statement", "status", "confidence", "sources")
MARKS_COLUMN = "[unchecked]"  # No column can have this name.
TOPICS = ("topic", "state", "rows", "run", "error")


async def write_xlsx(pool: Pool, target: UUID, columns: Sequence[Column], file: IO[bytes]) -> None:
    """Write the workbook to an open file.

    Raises:
        UsageError: There are more rows than a sheet has room for.
    """
    book = await asyncio.to_thread(_Book, file, columns)
    async for page in all_rows(pool, target, columns):
        await asyncio.to_thread(book.add_rows, page)
    async for topics in topics_of(pool, target):
        await asyncio.to_thread(book.add_topics, topics)
    await asyncio.to_thread(book.close)


class _Sheet:
    """A sheet that is written line by line, the first with the names of its columns."""

    def __init__(self, sheet: Worksheet, names: Sequence[str], bold: Format, text_style: Format) -> None:
        self._sheet = sheet
        self._text_style = text_style
        self._line = 0
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, len(names) - 1, WIDTH_CHARS)
        self.add([(name, bold) for name in names])

    def add(self, cells: Sequence[tuple[Any, Format | None]]) -> None:
        if self._line >= LINES_MAX:
            raise UsageError("There are more rows than a sheet has room for; take CSV or JSON.")
        for place, (value, style) in enumerate(cells):
            self._write(place, value, style)
        self._line += 1

    def _write(self, place: int, value: Any, style: Format | None) -> None:
        match value:
            case None | "":
                pass
            case bool():
                self._sheet.write_boolean(self._line, place, value, style)
            case float() | int() if abs(value) < EXACT_INT_MAX or isinstance(value, float):
                self._sheet.write_number(self._line, place, value, style)
            case date():
                self._sheet.write_datetime(self._line, place, value, style)
            case _:
                text = str(value)[:TEXT_CHARS_MAX]
                is_quoted = style is None and text.startswith(SIGNS)
                self._sheet.write_string(self._line, place, text, self._text_style if is_quoted else style)


class _Book:
    def __init__(self, file: IO[bytes], columns: Sequence[Column]) -> None:
        self._columns = columns
        self._book = xlsxwriter.Workbook(file, OPTIONS)
        bold, text_style = (
            self._book.add_format({"bold": True}),
            self._book.add_format({"quote_prefix": True}),
        )
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        warning = {"bg_color": "#FFE9A8", "quote_prefix": True}
        self._warning = self._book.add_format(warning)
        self._warning_day = self._book.add_format(warning | {"num_format": "yyyy-mm-dd"})

        def sheet(name: str, names: Sequence[str]) -> _Sheet:
            return _Sheet(self._book.add_worksheet(name), names, bold, text_style)

        self._rows = sheet("Rows", [TOPIC, *(column.name for column in columns), MARKS_COLUMN])
        self._evidence = sheet("Evidence", EVIDENCE)
        self._topics = sheet("Topics", TOPICS)

    def add_rows(self, rows: Sequence[AnswerRow]) -> None:
        for row in rows:
            self._rows.add(
                [
                    (row.topic, None),
                    *map(self._shown, self._columns, row.cells),
                    (self._unchecked(row), None),
                ],
            )
            for column, cell in zip(self._columns, row.cells, strict=True):
                about = (row.topic, row.n, column.name, cell.value, note_of(cell))
                for fact in cell.facts or (None,):
                    facts = (
                        (fact.id, fact.statement, fact.status, fact.confidence, " ".join(fact.sources))
                        if fact
                        else ()
                    )
                    self._evidence.add([(value, None) for value in (*about, *facts)])

    def add_topics(self, topics: Sequence[TopicRows]) -> None:
        for topic in topics:
            error = (topic.error or {}).get("message")
            values = (topic.topic, topic.state, topic.rows, topic.run_id, error)
            self._topics.add([(value, None) for value in values])

    def close(self) -> None:
        self._book.close()

    def _unchecked(self, row: AnswerRow) -> str:
        """Each mark with the names of its columns; empty if a model has judged all cells."""
        marks: dict[str, list[str]] = {}
        for column, cell in zip(self._columns, row.cells, strict=True):
            if cell.mark:
                marks.setdefault(cell.mark, []).append(column.name)
        return "; ".join(f"{mark}: {', '.join(names)}" for mark, names in marks.items())

    def _shown(self, column: Column, cell: Cell) -> tuple[Any, Format | None]:
        """A value as the sheet has it; one whose facts changed since is coloured."""
        value = cell.value
        style = self._warning if cell.changes else None
        if column.type is ColumnType.DATE and value is not None:
            day = date.fromisoformat(str(value))
            if day.year >= FIRST_YEAR:
                return day, self._warning_day if cell.changes else self._day
        return value, style
