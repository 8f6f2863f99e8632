"""The rows that runs returned, as the table that a report begins with."""

from collections.abc import Mapping, Sequence

from chiron_api.reports.report import Table, TableCell, TableRow
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell
from chiron_workers.knowledge.rows.values import Value
from chiron_workers.public_addresses import without_secrets
from chiron_workers.runs.columns import Column
from chiron_workers.states import Verdict

COLUMNS_MAX = 8  # that fit on a page
GROUPED_FROM = 10_000  # a year has no comma
UNCHECKED_MARK, CHANGED_MARK = "unchecked", "a fact of it changed since"


def table_of(
    columns: Sequence[Column],
    rows: Sequence[AnswerRow],
    numbers: Mapping[str, int],
    questions: Mapping[str, int],
    *,
    rows_max: int,
) -> Table | None:
    """The first rows; None where there are none.

    Args:
        numbers: The numbers of the report's findings by the ids of their facts.
        questions: The numbers of questions by the ids of their runs.
    """
    if not rows:
        return None
    return Table(
        tuple(column.name for column in columns[:COLUMNS_MAX]),
        tuple(_row(row, numbers, questions) for row in rows[:rows_max]),
        has_more_rows=len(rows) > rows_max,
        columns_left_out=max(0, len(columns) - COLUMNS_MAX),
    )


def _row(row: AnswerRow, numbers: Mapping[str, int], questions: Mapping[str, int]) -> TableRow:
    run_id = str(row.run_id)
    cells = tuple(_cell(cell, numbers) for cell in row.cells[:COLUMNS_MAX])
    return TableRow(run_id, questions.get(run_id, 0), cells)


def _cell(cell: Cell, numbers: Mapping[str, int]) -> TableCell:
    if cell.value is None:
        return TableCell("")
    mark = CHANGED_MARK if cell.changes else UNCHECKED_MARK if cell.verdict is Verdict.UNCHECKED else ""
    findings = (numbers[fact.id] for fact in cell.facts if fact.id in numbers)
    return TableCell(_text(cell.value), tuple(dict.fromkeys(findings)), mark)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return without_secrets(value)
    return str(value) if abs(value) < GROUPED_FROM else f"{value:,}"
