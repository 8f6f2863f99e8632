"""The form of rows that a model sent: a cell for each column, with a value of its type or a reason why it is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import UNCHECKED, Finding
from chiron_workers.knowledge.rows.cell_rules import FilledCell
from chiron_workers.knowledge.rows.values import Value, value_of, written
from chiron_workers.runs.columns import Column
from chiron_workers.runs.entries import storable
from chiron_workers.states import ColumnType

REASON_CHARS_MAX = 500
LABEL_CHARS = 80
TOPIC_CHARS = 300
REFUSALS_MAX = 20  # that are told at once


@dataclass(frozen=True, slots=True)
class NewCell:
    """A cell as a model sent it: a value with the ids of its facts, or a reason why it is empty."""

    value: Value | None = None
    fact_ids: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row by the names of its columns; `replaces` is the number of the row that it stands in place of."""

    cells: Mapping[str, NewCell]
    replaces: int | None = None


@dataclass(slots=True)
class FormedCell:
    """A cell of the column at `place`: `content`, or None and the reason; `finding` is the verdict on it."""

    place: int
    location: str  # "Row 1, year"
    content: FilledCell | None
    reason: str = ""
    finding: Finding = UNCHECKED

    @property
    def value(self) -> str | None:
        """Its value as it is stored."""
        return None if self.content is None else written(self.content.value)

    @property
    def entry(self) -> dict[str, Any]:
        """The cell as a row of its table, beside the number of its row."""
        return {
            "place": self.place,
            "value": self.value,
            "fact_ids": list(self.content.fact_ids) if self.content else [],
            "reason": self.reason,
            "verdict_reason": self.finding.reason,
            "verdict_by": self.finding.judge,
        }


@dataclass(frozen=True, slots=True)
class FormedRow:
    """A row with a cell for each column, in their order."""

    cells: tuple[FormedCell, ...]
    replaces: int | None

    @property
    def values(self) -> list[str | None]:
        """Its values as they are stored: two rows with the same ones are one row."""
        return [cell.value for cell in self.cells]


def form_rows(columns: Sequence[Column], rows: Sequence[NewRow], *, topic: str = "") -> list[FormedRow]:
    """The rows with values of the types of their columns. Raises ToolError, which names each cell that cannot stand.

    Args:
        topic: What the table answers.
    """
    refusals: list[str] = []
    formed_rows = []
    for n, row in enumerate(rows, start=1):
        refusals += [f"Row {n}: {sentence}" for sentence in _refuse_names(columns, row)]
        cells: list[FormedCell] = []
        for place, column in enumerate(columns):
            if column.name not in row.cells:
                continue
            location = f"Row {n}, {column.name}"
            try:
                cells.append(_form(place, location, column, row.cells[column.name]))
            except ToolError as error:
                refusals.append(f"{location}: {error}")
        _place_in_table(cells, topic)
        formed_rows.append(FormedRow(tuple(cells), row.replaces))
    refuse(refusals)
    return formed_rows


def refuse(refusals: Sequence[str]) -> None:
    """Raises ToolError, which tells the first of the refusals, where there are any."""
    if not refusals:
        return
    remainder = len(refusals) - REFUSALS_MAX
    tail = [f"And {remainder:,} more."] if remainder > 0 else []
    lines = ["Nothing was kept, since these cells cannot stand.", *refusals[:REFUSALS_MAX], *tail]
    raise ToolError("\n".join(lines))


def _place_in_table(cells: Sequence[FormedCell], topic: str) -> None:
    """Tell each cell of what its row tells: its first text, or else its first value; that one is told the topic alone."""
    filled_cells = [(cell, cell.content) for cell in cells if cell.content is not None]
    texts = [content for _, content in filled_cells if content.column.type is ColumnType.TEXT]
    key = next(iter(texts or [content for _, content in filled_cells]), None)
    for cell, content in filled_cells:
        label = "" if key is None or content is key else written(key.value)[:LABEL_CHARS]
        cell.content = replace(content, label=label, topic=topic[:TOPIC_CHARS])


def _refuse_names(columns: Sequence[Column], row: NewRow) -> list[str]:
    names = [column.name for column in columns]
    absences = [
        f"{name} is missing. Give its value with its facts, or null with the reason why it is empty."
        for name in names
        if name not in row.cells
    ]
    other_names = [name for name in row.cells if name not in names]
    return absences + [
        f"There is no column {name[:60]!r}; there are {', '.join(names)}." for name in other_names
    ]


def _form(place: int, location: str, column: Column, cell: NewCell) -> FormedCell:
    """A cell as its column has it. Raises ToolError for one that is neither filled nor says why not."""
    reason = storable(collapse_whitespace(cell.reason))
    if cell.value is None or not str(cell.value).strip():
        if not reason:
            raise ToolError(
                "It is empty without a reason. Say in a few words why, or give its value with its facts."
            )
        if len(reason) > REASON_CHARS_MAX:
            raise ToolError(f"The reason has {len(reason):,} characters; {REASON_CHARS_MAX} are allowed.")
        return FormedCell(place, location, None, reason)
    if reason:
        raise ToolError("It has a value and a reason why it is empty. Leave one of them out.")
    fact_ids = dict.fromkeys(fact_id.strip().lower() for fact_id in cell.fact_ids)
    content = FilledCell(column, value_of(cell.value, column.type), tuple(fact_ids))
    return FormedCell(place, location, content)
