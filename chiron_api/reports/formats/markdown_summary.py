"""The beginning of a Markdown document: the questions with the first sentence of each answer, or the rows; then the charts."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from chiron_api.reports import summary
from chiron_api.reports.charts import Chart, number_text
from chiron_api.reports.formats.markdown_text import escape
from chiron_api.reports.report import Report, Table, TableCell
from chiron_workers.states import ReportKind

Place = Callable[[int], str]  # how a finding is named, by its number
EMPTY = "–"


def opening(report: Report, place: Place) -> Iterator[str]:
    """The table of rows where runs returned rows; else the questions or topics, each with its answer in short."""
    if report.table:
        yield f"## {summary.HEADING}\n\n"
        yield from _rows(report, report.table, place)
        yield "".join(f"{escape(note)}\n\n" for note in summary.table_notes(report))
    elif lines := summary.summary_lines(report):
        yield f"## {summary.HEADING}\n\n"
        rows = ([escape(line.title), escape(line.answer), f"{line.facts:,}"] for line in lines)
        yield from _table(summary.columns(report), rows)
        note = summary.lines_left_out(report)
        yield f"{note}\n\n" if note else ""


def charts(report: Report, place: Place) -> Iterator[str]:
    """The values of each chart as a table, each with its finding."""
    if report.charts:
        yield "## Charts\n\n"
        for chart in report.charts:
            yield f"### {escape(chart.title)}\n\n"
            yield from _table(("", escape(chart.axis), "Finding"), _points(chart, place))
            yield f"{chart.left_out:,} more are not listed.\n\n" if chart.left_out else ""


def _points(chart: Chart, place: Place) -> Iterator[list[str]]:
    for point in chart.points:
        finding = place(point.finding) if point.finding is not None else EMPTY
        note = f" ({escape(point.note)})" if point.note else ""
        yield [escape(point.label), f"{escape(number_text(point.value))}{note}", finding]


def _rows(report: Report, rows: Table, place: Place) -> Iterator[str]:
    is_batch = report.kind is ReportKind.BATCH
    columns = [*["Question"] * is_batch, *map(escape, rows.columns)]
    lines = (
        [
            *[f"\\#{row.number}"] * is_batch,
            *(_cell(cell, place) for cell in row.cells),
            *[EMPTY] * (len(rows.columns) - len(row.cells)),
        ]
        for row in rows.rows
    )
    yield from _table(columns, lines)


def _cell(cell: TableCell, place: Place) -> str:
    if not cell.text:
        return EMPTY
    finding = f" ({place(cell.findings[0])})" if cell.findings else ""
    return f"{escape(cell.text)}{finding}" + (f" *({escape(cell.mark)})*" if cell.mark else "")


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    yield from (f"| {' | '.join(row)} |\n" for row in rows)
    yield "\n"
