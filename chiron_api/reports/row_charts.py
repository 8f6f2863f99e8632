"""Charts of the rows of a batch, one for each column of numbers."""

from collections.abc import Iterable, Mapping, Sequence

from chiron_api.reports.charts import POINTS_MAX, TITLE_CHARS, Chart, Point
from chiron_api.text import one_line
from chiron_workers.knowledge.rows.reading import AnswerRow
from chiron_workers.runs.columns import Column
from chiron_workers.states import ColumnType

POINTS_MIN = 2


def charts_of(
    columns: Sequence[Column], rows: Iterable[AnswerRow], numbers: Mapping[str, int]
) -> list[Chart]:
    """A chart for each column of numbers that at least two rows fill, in the order of the columns.

    Args:
        numbers: The numbers of the report's findings by the ids of their facts.
    """
    filled_rows = list(rows)
    labels = [_label(columns, row) for row in filled_rows]
    charts = []
    for place, column in enumerate(columns):
        if column.type not in (ColumnType.INT, ColumnType.FLOAT):
            continue
        points = [
            Point(label, float(cell.value), _finding(row, place, numbers), cell.calculation)
            for label, row in zip(labels, filled_rows, strict=True)
            if isinstance((cell := row.cells[place]).value, int | float)
        ]
        if len(points) >= POINTS_MIN:
            title = f"{column.name}: {column.description}" if column.description else column.name
            charts.append(
                Chart(
                    one_line(title)[:TITLE_CHARS],
                    column.name,
                    tuple(points[:POINTS_MAX]),
                    max(0, len(points) - POINTS_MAX),
                )
            )
    return charts


def _label(columns: Sequence[Column], row: AnswerRow) -> str:
    """The name of a row: its first text, else its topic."""
    texts = (
        str(cell.value)
        for column, cell in zip(columns, row.cells, strict=True)
        if column.type is ColumnType.TEXT and cell.value is not None
    )
    return one_line(next(texts, row.topic))


def _finding(row: AnswerRow, place: int, numbers: Mapping[str, int]) -> int | None:
    return next((numbers[fact.id] for fact in row.cells[place].facts if fact.id in numbers), None)
