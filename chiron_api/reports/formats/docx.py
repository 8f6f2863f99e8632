"""A report as a Word document, with headings, links and tables that Word and LibreOffice know as such."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from chiron_api.reports import making, phrasing, question_phrasing, summary
from chiron_api.reports.formats import docx_answer, docx_summary
from chiron_api.reports.formats.docx_answer import cite
from chiron_api.reports.formats.docx_writer import GREY, Paper
from chiron_api.reports.links import link
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Citation, Finding, Report, Source, SubjectPart
from chiron_api.reports.write import Format
from chiron_workers.states import ReportKind

PIECE_BYTES = 65_536
INDENT_CM, LEVELS_SHOWN = 0.7, 10
RUN_COLUMNS = ("Topic", "State", "Facts", "Cost", "Tokens")
RUN_WIDTHS, MODEL_WIDTHS, SUMMARY_WIDTHS = (46, 13, 17, 12, 12), (28, 10, 14, 12, 12, 12, 12), (25, 75)


def render(report: Report) -> Iterator[bytes]:
    """The document, piece by piece."""
    paper = Paper(phrasing.heading(report), report.made_at)
    paper.paragraph(phrasing.heading(report), "title")
    paper.paragraph(summary.lead(report), colour=GREY)
    is_subject = report.kind is ReportKind.SUBJECT
    docx_answer.written(paper, report)
    docx_summary.opening(paper, report)
    docx_summary.charts(paper, report)
    if is_subject:
        docx_answer.said(paper, report)
    _findings(paper, report)
    _contradictions(paper, report)
    _asides(paper, report)
    for subject in report.subjects:
        _goal(paper, subject)
        if subject.nodes or is_subject:
            _coverage(paper, subject, is_named=len(report.subjects) > 1)
    paper.paragraph("Sources", 1)
    for source in report.sources:
        _source(paper, source)
    _made(paper, report)
    with tempfile.TemporaryFile() as file:
        paper.save(file)
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece


def _goal(paper: Paper, subject: SubjectPart) -> None:
    if subject.purpose:
        paper.paragraph(f"Learning goal: {one_line(subject.title)}", 1)
        for line in phrasing.paragraphs(subject.purpose):
            paper.paragraph(line, "goal")
        paper.paragraph(f"Depth: {one_line(subject.depth)}", colour=GREY)


def _findings(paper: Paper, report: Report) -> None:
    paper.paragraph(phrasing.findings_heading(report), 1)
    for note in phrasing.client_notes(report):
        paper.paragraph(note, colour=GREY)
    if not report.sections:
        paper.paragraph(phrasing.no_findings(report))
    answers = {answer.run_id: answer for answer in report.run_answers}
    contexts = phrasing.question_contexts(report)
    for place, (title, section) in enumerate(phrasing.titled_sections(report), start=1):
        paper.begin(2)
        paper.bookmark(f"t{place}")
        paper.say(title)
        docx_answer.question(paper, section, answers, contexts)
        for finding in section.findings:
            _finding(paper, finding, is_home=True, mark=question_phrasing.finding_mark(section, finding))


def _finding(paper: Paper, finding: Finding, *, is_home: bool, mark: str = "") -> None:
    paper.begin(keep=True)
    if is_home:
        paper.bookmark(f"f{finding.number}")
    paper.say(f"{finding.number}. ", bold=True)
    paper.say(one_line(finding.content))
    for source in dict.fromkeys(citation.source for citation in finding.citations):
        cite(paper, source)
    paper.begin("quote")
    paper.say(phrasing.confidence_line(finding, mark), colour=GREY)
    for n, citation in enumerate(finding.citations):
        if n:
            paper.begin("quote")
        else:
            paper.say(" · ", colour=GREY)
        _passage(paper, citation, finding)
    if is_home:
        for relative in finding.relatives:
            paper.paragraph(f"{phrasing.relation(relative)} ", "bullet")
            paper.inward(f"finding {relative.number}", f"f{relative.number}")
        for text in finding.objections:
            paper.paragraph(phrasing.objection(text), "bullet")


def _passage(paper: Paper, citation: Citation, finding: Finding) -> None:
    if citation.wording:
        paper.say(f"As this source puts it: {one_line(citation.wording)} ")
    paper.say(phrasing.passage(citation, finding.content))
    cite(paper, citation.source)


def _contradictions(paper: Paper, report: Report) -> None:
    if not report.contradictions:
        return
    paper.paragraph("Contradictions", 1)
    paper.paragraph(phrasing.BOTH_STAY)
    findings = report.by_number()
    for contradiction in report.contradictions:
        paper.paragraph(f"Finding {contradiction.number} against finding {contradiction.other}", 2)
        _finding(paper, findings[contradiction.number], is_home=False)
        _finding(paper, findings[contradiction.other], is_home=False)
        paper.paragraph(phrasing.reason(contradiction), colour=GREY)


def _asides(paper: Paper, report: Report) -> None:
    if report.asides:
        paper.paragraph("Linked facts", 1)
        paper.paragraph(phrasing.ASIDE)
        for finding in report.asides:
            _finding(paper, finding, is_home=True)


def _coverage(paper: Paper, subject: SubjectPart, *, is_named: bool) -> None:
    paper.paragraph(f"Coverage: {one_line(subject.title)}" if is_named else "Coverage", 1)
    if not subject.nodes:
        paper.paragraph(phrasing.NO_MAP)
        return
    if missing_nodes := subject.missing:
        paper.paragraph("What is missing", 2)
        for node in missing_nodes:
            paper.paragraph(f"{one_line(node.title)}{' (goal-critical)' * node.is_goal_critical}", "bullet")
    paper.paragraph("The map", 2)
    for node in subject.nodes:
        critical = " (goal-critical)" * node.is_goal_critical
        paper.begin(indent_cm=min(node.level, LEVELS_SHOWN) * INDENT_CM)
        paper.say(f"{one_line(node.title)}{critical}: {phrasing.node_facts(node)}")
    for line in phrasing.map_notes(subject):
        paper.paragraph(line)


def _made(paper: Paper, report: Report) -> None:
    paper.paragraph(making.HEADING, 1)
    for note in making.notes(report):
        paper.paragraph(note, colour=GREY)
    paper.table(("", ""), phrasing.summary(report), widths=SUMMARY_WIDTHS)
    if not report.work.run_count:
        paper.paragraph(phrasing.NO_RUN)
        return
    if failed_runs := phrasing.failed_runs(report):
        paper.paragraph("What failed", 2)
        for run in failed_runs:
            paper.paragraph(f"{phrasing.numbered_topic(run, report)}: {one_line(run.error)}", "bullet")
    paper.paragraph("Models", 2)
    _table(paper, phrasing.MODEL_COLUMNS, map(phrasing.model_cells, report.work.models), MODEL_WIDTHS)
    paper.paragraph("Runs", 2)
    _table(paper, RUN_COLUMNS, map(partial(phrasing.run_cells, report), report.work.runs), RUN_WIDTHS)
    if omitted_note := phrasing.runs_left_out(report):
        paper.paragraph(omitted_note)


def _table(
    paper: Paper, columns: Sequence[str], rows: Iterable[Mapping[str, str]], widths: Sequence[int]
) -> None:
    paper.table(columns, ([row[name] for name in columns] for row in rows), widths=widths)


def _source(paper: Paper, source: Source) -> None:
    paper.begin("small")
    paper.bookmark(f"s{source.number}")
    paper.say(f"[{source.number}] ", bold=True)
    if source.title:
        paper.say(f"{one_line(source.title)}. ")
    if target := link(source.url):
        paper.outward(one_line(source.url), target)
    else:
        paper.say(one_line(source.url))
    paper.say(f" {' · '.join(phrasing.source_details(source))} · for finding ", colour=GREY)
    numbers, more = phrasing.cited_by(source)
    for n, number in enumerate(numbers):
        paper.say(", " * bool(n), colour=GREY)
        paper.inward(str(number), f"f{number}")
    if more:
        paper.say(more, colour=GREY)


FORMAT = Format(
    "docx",
    order=4,
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    is_text=False,
    render=render,
)
