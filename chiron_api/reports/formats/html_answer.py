"""The written answer and the answers of the runs, as parts of an HTML page."""

from collections.abc import Iterator
from html import escape

from chiron_api.reports import answer_phrasing
from chiron_api.reports.answer import WrittenSentence
from chiron_api.reports.formats import html_findings
from chiron_api.reports.formats.html_addresses import ANCHORS, Anchors
from chiron_api.reports.formats.html_findings import cite
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report
from chiron_workers.states import ReportKind


def written(report: Report, addresses: Anchors = ANCHORS, *, has_origin: bool = True) -> Iterator[str]:
    """The written answer with links to findings and sources, then what is not known; nothing where there is none.

    Args:
        has_origin: Whether it says by whom and how it was written; a document says that at its end.
    """
    answer = report.answer
    if answer is None:
        return
    yield f'<section id="answer">\n<h2>{answer_phrasing.HEADING}</h2>\n'
    for section in answer.sections:
        mark = f' <span class="mark">({escape(section.title_mark)})</span>' if section.title_mark else ""
        yield f'<h3 dir="auto">{escape(one_line(section.title))}{mark}</h3>\n'
        yield f"<p>{' '.join(_written(sentence, addresses) for sentence in section.sentences)}</p>\n"
    if answer.not_known:
        lines = "".join(f'<li dir="auto">{escape(one_line(line))}</li>' for line in answer.not_known)
        yield f"<h3>{answer_phrasing.NOT_KNOWN_HEADING}</h3>\n<ul>{lines}</ul>\n"
    if has_origin:
        yield f'<p class="soft">{escape(answer_phrasing.origin(answer))}</p>\n'
    yield "</section>\n"


def _written(sentence: WrittenSentence, addresses: Anchors) -> str:
    numbers = answer_phrasing.numbers(sentence)
    findings = ", ".join(
        f'<a {addresses.finding(number)} aria-label="Finding {number}">{number}</a>' for number in numbers
    )
    marks = "".join(
        f' <span class="mark">({escape(mark)})</span>' for mark in answer_phrasing.marks(sentence)
    )
    place = f' <span class="soft">(finding {findings})</span>' if findings else ""
    cites = " ".join(cite(source, addresses, numbers) for source in sentence.sources)
    return f"<bdi>{escape(answer_phrasing.text_of(sentence))}</bdi>{place} {cites}{marks}"


def said(report: Report) -> Iterator[str]:
    """What the runs of a subject answered, sentence by sentence; the questions of others have their answers."""
    if not report.run_answers or report.kind is not ReportKind.SUBJECT:
        return
    yield f'<section id="words">\n<h2>{answer_phrasing.RUNS_HEADING}</h2>\n'
    yield f'<p class="soft">{answer_phrasing.RUNS_NOTE}</p>\n'
    for answer in report.run_answers:
        yield f'<h3 dir="auto">{escape(one_line(answer.topic))}</h3>\n'
        yield from html_findings.said(answer)
    yield "</section>\n"
