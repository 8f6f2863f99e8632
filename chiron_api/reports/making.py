"""The last section of a report, "How this report was made": the origin of its words, gaps in the records, runs and cost."""

from collections.abc import Iterator

from chiron_api.reports import answer_phrasing, phrasing
from chiron_api.reports.report import Report
from chiron_api.text import count
from chiron_workers.states import ReportKind

HEADING = "How this report was made"


def notes(report: Report) -> Iterator[str]:
    """Notes on the making of the report, a sentence or two each."""
    yield phrasing.origin_line(report)
    if report.answer:
        yield answer_phrasing.origin(report.answer)
    yield phrasing.ORIGIN_NOTE
    if report.run_answers:
        is_subject = report.kind is ReportKind.SUBJECT
        yield answer_phrasing.RUNS_NOTE if is_subject else phrasing.ANSWERS_NOTE
    yield from phrasing.record_notes(report)
    if report.table and (empty_cells := report.table.empty_cells):
        yield f"{count(empty_cells, 'cell')} of the table stayed empty, since no fact says what belongs there."
