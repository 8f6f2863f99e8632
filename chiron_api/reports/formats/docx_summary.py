"""The beginning of a Word document: the questions with the first sentence of each answer, or the rows; then the charts."""

from collections.abc import Iterator

from chiron_api.reports import summary
from chiron_api.reports.charts import drawable, number_text
from chiron_api.reports.formats.docx_writer import GREY, Cell, Paper
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, Table, TableCell
from chiron_workers.states import ReportKind

WIDTHS = (41, 52, 7)  # of the columns, in hundredths
EMPTY = "–"


def opening(paper: Paper, report: Report) -> None:
    """The table of rows where runs returned rows; else the questions or topics, each with its answer in short."""
    if report.table:
        paper.paragraph(summary.HEADING, 1)
        _rows(paper, report, report.table)
        for note in summary.table_notes(report):
            paper.paragraph(note, colour=GREY)
    elif lines := summary.summary_lines(report):
        paper.paragraph(summary.HEADING, 1)
        rows = ((((line.title, f"t{line.section}"),), line.answer, f"{line.facts:,}") for line in lines)
        paper.table(summary.columns(report), rows, widths=WIDTHS)
        if note := summary.lines_left_out(report):
            paper.paragraph(note, colour=GREY)


def charts(paper: Paper, report: Report) -> None:
    """Each chart under its caption, and its values with links to their findings, which no bar of Word can have."""
    if not report.charts:
        return
    paper.paragraph("Charts", 1)
    for chart in map(drawable, report.charts):
        paper.paragraph(one_line(chart.title), "caption", keep=True)
        paper.chart(chart)
        paper.begin()
        for n, point in enumerate(chart.points):
            paper.say("; " * bool(n), colour=GREY)
            paper.say(f"{one_line(point.label)} {number_text(point.value)}", colour=GREY)
            if point.finding is not None:
                paper.say(" (", colour=GREY)
                paper.inward(f"finding {point.finding}", f"f{point.finding}")
                paper.say(")", colour=GREY)
        if chart.left_out:
            paper.say(f". {chart.left_out:,} more are not drawn.", colour=GREY)


def _rows(paper: Paper, report: Report, rows: Table) -> None:
    is_batch = report.kind is ReportKind.BATCH
    columns = [*["Question"] * is_batch, *rows.columns]
    paper.table(columns, _cells_of_rows(rows, is_batch=is_batch))


def _cells_of_rows(rows: Table, *, is_batch: bool) -> Iterator[list[Cell]]:
    for row in rows.rows:
        cells: list[Cell] = [f"#{row.number}"] if is_batch else []
        cells += [_cell(cell) for cell in row.cells]
        yield cells + [EMPTY] * (len(rows.columns) - len(row.cells))


def _cell(cell: TableCell) -> Cell:
    if not cell.text:
        return EMPTY
    place = f"f{cell.findings[0]}" if cell.findings else ""
    return ((one_line(cell.text), place), (f" ({cell.mark})" if cell.mark else "", ""))
