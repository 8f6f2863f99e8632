"""What an HTML page begins with: the questions with the first sentence of each answer, or the rows; then the charts."""

from collections.abc import Iterator, Sequence
from html import escape

from chiron_api.reports import summary
from chiron_api.reports.charts import draw
from chiron_api.reports.formats.html_addresses import ANCHORS, Anchors
from chiron_api.reports.formats.html_table import table
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, Table, TableCell
from chiron_workers.states import ReportKind

FACTS = 2  # the place of the column


def opening(
    report: Report, addresses: Anchors = ANCHORS, *, sizes: Sequence[int] | None = None
) -> Iterator[str]:
    """The table of rows where runs returned rows; else the questions or topics, each with its answer in short.

    Args:
        sizes: As of `summary_lines`.
    """
    if report.table:
        yield f'<section id="summary">\n<h2>{summary.HEADING}</h2>\n'
        yield from _rows(report, report.table, addresses)
        yield from (f'<p class="soft">{escape(note)}</p>\n' for note in summary.table_notes(report))
        yield "</section>\n"
    elif lines := summary.summary_lines(report, sizes):
        yield f'<section id="summary">\n<h2>{summary.HEADING}</h2>\n'
        rows = (
            (
                f"<a {addresses.section(line.section)}><bdi>{escape(line.title)}</bdi></a>",
                f"<bdi>{escape(line.answer)}</bdi>",
                f"{line.facts:,}",
            )
            for line in lines
        )
        yield from table(summary.columns(report), rows, figures={FACTS}, kind="summary")
        if note := summary.lines_left_out(report):
            yield f'<p class="soft">{note}</p>\n'
        yield "</section>\n"


def _rows(report: Report, rows: Table, addresses: Anchors) -> Iterator[str]:
    is_batch = report.kind is ReportKind.BATCH
    places = {
        section.question.number: place
        for place, section in enumerate(report.sections, start=1)
        if section.question
    }
    columns = ("Question",) * is_batch + rows.columns
    lines = (
        (
            *((_question(row.number, places.get(row.number), addresses),) if is_batch else ()),
            *(
                _cell(cell, addresses)
                for cell in (*row.cells, *(TableCell(""),) * (len(rows.columns) - len(row.cells)))
            ),
        )
        for row in rows.rows
    )
    yield from table(columns, lines, kind="rows")


def _question(number: int, section: int | None, addresses: Anchors) -> str:
    return f"<a {addresses.section(section)}>#{number}</a>" if section else f"#{number}"


def _cell(cell: TableCell, addresses: Anchors) -> str:
    if not cell.text:
        return '<span class="soft">–</span>'
    text = f"<bdi>{escape(one_line(cell.text))}</bdi>"
    if cell.findings:
        number = cell.findings[0]
        text = f'<a {addresses.finding(number)} aria-label="{escape(one_line(cell.text))}, finding {number}">{text}</a>'
    mark = f' <span class="mark">({escape(cell.mark)})</span>' if cell.mark else ""
    return f"{text}{mark}"


def charts(report: Report, addresses: Anchors = ANCHORS) -> Iterator[str]:
    """A figure for each chart."""
    if report.charts:
        yield '<section id="charts">\n<h2>Charts</h2>\n'
        for n, chart in enumerate(report.charts, start=1):
            drawing = draw(chart, key=f"c{n}", link=addresses.finding)
            yield f'<figure><figcaption dir="auto">{escape(chart.title)}</figcaption>\n{drawing}</figure>\n'
        yield "</section>\n"
