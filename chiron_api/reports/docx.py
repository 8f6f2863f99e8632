"""A report as a Word document, with headings, links and tables that Word and LibreOffice know as such."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from chiron_api.reports import wording
from chiron_api.reports.addresses import link
from chiron_api.reports.report import Citation, Finding, Report, Source, SubjectPart
from chiron_api.reports.wording import shown
from chiron_api.terminal import usd

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

CITED_BY_MAX = 100
RUN_COLUMNS = ("Topic", "State", "Facts", "Cost", "Tokens")
MODEL_COLUMNS = ("Model", "Runs", "Cost", "Tokens in", "Tokens out")
BLUE, GREY = "0B57A4", "576071"


def write(report: Report, file: Path | BinaryIO) -> None:
    """Write the document to a file, by its name or open for writing."""
    document = _new(report)
    document.add_heading(wording.heading(report), 0)
    document.add_paragraph(wording.origin_line(report))
    _table(document, ("", ""), wording.glance(report), has_head=False)
    document.add_paragraph(wording.CHECKED)
    for subject in report.subjects:
        _goal(document, subject)
    _findings(document, report)
    _contradictions(document, report)
    _asides(document, report)
    for subject in report.subjects:
        _coverage(document, subject, is_named=len(report.subjects) > 1)
    _work(document, report)
    _agent_words(document, report)
    document.add_heading("Sources", 1).paragraph_format.page_break_before = True
    for source in report.sources:
        _source(document, source)
    document.save(str(file) if isinstance(file, Path) else file)


def _new(report: Report) -> "Document":
    from docx import Document
    from docx.oxml.ns import qn
    from docx.shared import Cm, Pt

    document = Document()
    properties = document.core_properties
    properties.title, properties.author = wording.heading(report)[:255], "Chiron"
    properties.comments = ""
    properties.created = properties.modified = report.made_at.replace(tzinfo=None)
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.2)
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after = Pt(6)
    document.styles["Quote"].paragraph_format.left_indent = Cm(0.8)
    for name in ("Title", "Heading 1", "Heading 2"):
        document.styles[name].element.rPr.rFonts.set(qn("w:eastAsia"), "Calibri")
    return document


def _goal(document: "Document", subject: SubjectPart) -> None:
    if subject.purpose:
        document.add_heading(f"Learning goal: {shown(subject.title)}", 1)
        for line in wording.paragraphs(subject.purpose):
            document.add_paragraph(line, style="Intense Quote")
        _soft(document.add_paragraph(), f"Depth: {shown(subject.depth)}")


def _findings(document: "Document", report: Report) -> None:
    document.add_heading("Findings", 1)
    if not report.sections:
        document.add_paragraph(wording.NOTHING)
    titles = {subject.subject_id: shown(subject.title) for subject in report.subjects}
    for section in report.sections:
        name = f"{titles.get(section.subject_id, '')}: " if len(titles) > 1 else ""
        document.add_heading(name + wording.path(section.topic_path), 2)
        for finding in section.findings:
            _finding(document, finding, is_home=True)


def _finding(document: "Document", finding: Finding, *, is_home: bool) -> None:
    paragraph = document.add_paragraph()
    paragraph.paragraph_format.keep_with_next = True
    if is_home:
        _bookmark(paragraph, f"f{finding.number}", finding.number)
    paragraph.add_run(f"{finding.number}. ").bold = True
    paragraph.add_run(shown(finding.content))
    for source in dict.fromkeys(citation.source for citation in finding.citations):
        _cite(paragraph, source)
    _soft(document.add_paragraph(), wording.standing(finding))
    for citation in finding.citations:
        _passage(document, citation)
    if is_home:
        for one in finding.relatives:
            line = document.add_paragraph(f"{wording.relation(one)} ", style="List Bullet")
            _inward(line, f"finding {one.number}", f"f{one.number}")
        for text in finding.objections:
            document.add_paragraph(wording.objection(text), style="List Bullet")


def _passage(document: "Document", citation: Citation) -> None:
    paragraph = document.add_paragraph(style="Quote")
    if citation.wording:
        paragraph.add_run(f"As this source puts it: {shown(citation.wording)} ")
    paragraph.add_run(wording.passage(citation))
    _cite(paragraph, citation.source)


def _contradictions(document: "Document", report: Report) -> None:
    if not report.contradictions:
        return
    document.add_heading("Contradictions", 1)
    document.add_paragraph("Both sides stay until a source settles it.")
    known = report.by_number()
    for one in report.contradictions:
        document.add_heading(f"Finding {one.number} against finding {one.other}", 2)
        _finding(document, known[one.number], is_home=False)
        _finding(document, known[one.other], is_home=False)
        _soft(document.add_paragraph(), wording.because(one))


def _asides(document: "Document", report: Report) -> None:
    if report.asides:
        document.add_heading("Linked facts", 1)
        document.add_paragraph(wording.ASIDE)
        for finding in report.asides:
            _finding(document, finding, is_home=True)


def _coverage(document: "Document", subject: SubjectPart, *, is_named: bool) -> None:
    from docx.shared import Cm

    document.add_heading(f"Coverage: {shown(subject.title)}" if is_named else "Coverage", 1)
    if not subject.nodes:
        document.add_paragraph(wording.NO_MAP)
        return
    if missing := subject.missing:
        document.add_heading("What is missing", 2)
        for node in missing:
            document.add_paragraph(
                f"{shown(node.title)}{' (goal-critical)' * node.is_goal_critical}", style="List Bullet"
            )
    document.add_heading("The map", 2)
    for node in subject.nodes:
        critical = " (goal-critical)" * node.is_goal_critical
        line = document.add_paragraph(f"{shown(node.title)}{critical}: {wording.node_facts(node)}")
        line.paragraph_format.left_indent = Cm(min(node.level, 10) * 0.7)
    if subject.unmapped_facts:
        document.add_paragraph(
            f"{wording.count(subject.unmapped_facts, 'fact')} at paths that no node names."
        )
    if subject.is_cut:
        document.add_paragraph("The map has more than 2,000 nodes; these are the first.")


def _work(document: "Document", report: Report) -> None:
    document.add_heading("Runs and cost", 1)
    if not report.work.run_count:
        document.add_paragraph("No run has worked on this.")
        return
    if failed := wording.failed(report):
        document.add_heading("What failed", 2)
        for run in failed:
            document.add_paragraph(f"{shown(run.topic)}: {shown(run.error)}", style="List Bullet")
    document.add_heading("Models", 2)
    models = (
        (one.model, f"{one.runs:,}", usd(one.spent_usd), f"{one.input_tokens:,}", f"{one.output_tokens:,}")
        for one in report.work.models
    )
    _table(document, MODEL_COLUMNS, models)
    document.add_heading("Runs", 2)
    runs = (
        (
            run.topic,
            run.state,
            f"{run.facts:,}",
            usd(run.spent_usd),
            f"{run.input_tokens + run.output_tokens:,}",
        )
        for run in report.work.runs
    )
    _table(document, RUN_COLUMNS, runs)
    if more := wording.runs_left_out(report):
        document.add_paragraph(more)


def _agent_words(document: "Document", report: Report) -> None:
    if report.agent_words:
        document.add_heading("The agent’s own words, not checked", 1)
        document.add_paragraph().add_run(wording.UNCHECKED).bold = True
        for line in wording.paragraphs(report.agent_words):
            document.add_paragraph(line, style="Quote")


def _source(document: "Document", source: Source) -> None:
    paragraph = document.add_paragraph()
    _bookmark(paragraph, f"s{source.number}", 1_000_000 + source.number)
    paragraph.add_run(f"[{source.number}] ").bold = True
    if source.title:
        paragraph.add_run(f"{shown(source.title)}. ")
    if target := link(source.url):
        _outward(paragraph, shown(source.url), target)
    else:
        paragraph.add_run(shown(source.url))
    _soft(paragraph, f" {' · '.join(wording.about(source))} · for finding ")
    for n, number in enumerate(source.cited_by[:CITED_BY_MAX]):
        _soft(paragraph, ", " * bool(n))
        _inward(paragraph, str(number), f"f{number}")
    if len(source.cited_by) > CITED_BY_MAX:
        _soft(paragraph, f" and {len(source.cited_by) - CITED_BY_MAX:,} more")


def _table(
    document: "Document", columns: Sequence[str], rows: Iterable[Sequence[str]], *, has_head: bool = True
) -> None:
    from docx.oxml.ns import qn

    table = document.add_table(rows=1 if has_head else 0, cols=len(columns), style="Light List Accent 1")
    look = table._tbl.tblPr.find(qn("w:tblLook"))
    look.set(qn("w:firstRow"), str(int(has_head)))
    if has_head:
        for cell, name in zip(table.rows[0].cells, columns, strict=True):
            cell.text = name
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = shown(text)
    document.add_paragraph()


def _cite(paragraph: "Paragraph", source: int) -> None:
    paragraph.add_run(" ")
    _inward(paragraph, f"[{source}]", f"s{source}")


def _inward(paragraph: "Paragraph", text: str, anchor: str) -> None:
    _link(paragraph, text, "w:anchor", anchor)


def _outward(paragraph: "Paragraph", text: str, target: str) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE

    _link(
        paragraph,
        text,
        "r:id",
        paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True),
    )


def _link(paragraph: "Paragraph", text: str, attribute: str, value: str) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement("w:hyperlink")
    element.set(qn(attribute), value)
    run = paragraph.add_run(text)
    _colour(run, BLUE)
    run.font.underline = True
    element.append(run._r)
    paragraph._p.append(element)


def _bookmark(paragraph: "Paragraph", name: str, number: int) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for tag in ("w:bookmarkStart", "w:bookmarkEnd"):
        element = OxmlElement(tag)
        element.set(qn("w:id"), str(number))
        if tag == "w:bookmarkStart":
            element.set(qn("w:name"), name)
        paragraph._p.append(element)


def _soft(paragraph: "Paragraph", text: str) -> None:
    if text:
        _colour(paragraph.add_run(text), GREY)


def _colour(run: Any, colour: str) -> None:
    from docx.shared import RGBColor

    run.font.color.rgb = RGBColor.from_string(colour)
