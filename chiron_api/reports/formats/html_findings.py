"""Findings, contradictions and sources as parts of an HTML page, linked with one another."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import escape

from chiron_api.reports import answer_phrasing, phrasing, question_phrasing
from chiron_api.reports.answer import RunAnswer, SaidSentence
from chiron_api.reports.formats.html_addresses import ANCHORS, Anchors
from chiron_api.reports.links import link
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Citation, Contradiction, Finding, Report, Section, Source
from chiron_api.reports.summary import plain_words


def findings(
    report: Report, addresses: Anchors = ANCHORS, *, notes: Iterable[str] | None = None
) -> Iterator[str]:
    """The findings by question or topic path; `addresses` say where numbers lead.

    Args:
        notes: Shown before them. None: `findings_notes`.
    """
    notes = phrasing.findings_notes(report) if notes is None else notes
    yield f'<section id="findings">\n<h2>{phrasing.findings_heading(report)}</h2>\n'
    yield from (f'<p class="soft">{escape(note)}</p>\n' for note in notes)
    answers = {answer.run_id: answer for answer in report.run_answers}
    contexts = phrasing.question_contexts(report)
    if not report.sections:
        yield f"<p>{phrasing.no_findings(report)}</p>\n"
    for n, (title, section) in enumerate(phrasing.titled_sections(report), start=1):
        yield f'<h3 id="t{n}" dir="auto">{escape(title)}</h3>\n'
        yield from _question(section, answers, contexts, addresses)
        for finding in section.findings:
            yield _finding(addresses, finding, question_phrasing.finding_mark(section, finding))
    yield "</section>\n"


def _question(
    section: Section, answers: Mapping[str, RunAnswer], contexts: Mapping[str, str], addresses: Anchors
) -> Iterator[str]:
    """The context of a section's question, its answer, what came of it, and its findings that stand elsewhere."""
    if section.question is None:
        return
    if context := contexts.get(section.question.run_id):
        yield f'<p class="soft" dir="auto">{escape(context)}</p>\n'
    if answer := answers.get(section.question.run_id):
        yield from said(answer)
    for note in question_phrasing.question_notes(section):
        yield f'<p class="soft" dir="auto">{escape(note)}</p>\n'
    if numbers := section.question.repeats:
        places = ", ".join(f"<a {addresses.finding(number)}>finding {number}</a>" for number in numbers)
        yield f"<p>{phrasing.REPEATS_WORDS}{places}.</p>\n"


def said(answer: RunAnswer) -> Iterator[str]:
    """What a run answered, sentence by sentence."""
    yield '<ul class="words">'
    yield " ".join(map(_said, answer.sentences))
    yield f"</ul>\n<p>{note}</p>\n" if (note := answer_phrasing.cut_note(answer)) else "</ul>\n"


def _said(sentence: SaidSentence) -> str:
    note = answer_phrasing.citation_note(sentence)
    mark = (
        f'<span class="mark">{escape(note)}</span>'
        if note
        else " ".join(cite(source, ANCHORS) for source in sentence.sources)
    )
    return f"<li><bdi>{escape(plain_words(sentence))}</bdi> {mark}</li>"


def _finding(addresses: Anchors, finding: Finding, mark: str = "") -> str:
    number = finding.number
    parts = [
        f'<article class="finding" id="f{number}" aria-label="Finding {number}">\n{_statement(finding, addresses)}',
        f'<p class="standing">{_standing(finding, mark)}</p>\n',
        *(_passage(citation, finding, addresses) for citation in finding.citations),
        _links(finding, addresses),
        "</article>\n",
    ]
    return "".join(parts)


def _statement(finding: Finding, addresses: Anchors) -> str:
    number = finding.number
    sources = dict.fromkeys(citation.source for citation in finding.citations)
    cites = " ".join(cite(source, addresses, (number,)) for source in sources)
    return (
        f'<p><a class="number" {addresses.finding(number)} aria-label="Finding {number}">{number}</a>'
        f"<bdi>{escape(one_line(finding.content))}</bdi> {cites}</p>\n"
    )


def cite(source: int, addresses: Anchors, findings: Iterable[int] = ()) -> str:
    """A link to a source that findings of these numbers cite."""
    return f'<a class="cite" {addresses.source(source, findings)} aria-label="Source {source}">[{source}]</a>'


def _standing(finding: Finding, mark: str = "") -> str:
    marks = "".join(f' · <span class="mark">{mark}</span>' for mark in phrasing.marks(finding))
    return f"{escape(phrasing.confidence_and_origins(finding))}{marks}{f' · {mark}' if mark else ''}"


def _passage(citation: Citation, finding: Finding, addresses: Anchors) -> str:
    wording = (
        f'<p class="soft" dir="auto">As this source puts it: {escape(one_line(citation.wording))}</p>'
        if citation.wording
        else ""
    )
    words = escape(phrasing.passage(citation, finding.content))
    place = cite(citation.source, addresses, (finding.number,))
    return f"<blockquote>{wording}<p><bdi>{words}</bdi> {place}</p></blockquote>\n"


def _links(finding: Finding, addresses: Anchors) -> str:
    lines = [
        f"<li>{phrasing.relation(relative)} <a {addresses.finding(relative.number)}>finding {relative.number}</a></li>"
        for relative in finding.relatives
    ]
    lines += [
        f'<li class="mark" dir="auto">{escape(phrasing.objection(text))}</li>' for text in finding.objections
    ]
    return f'<ul class="links">{"".join(lines)}</ul>\n' if lines else ""


def contradictions(report: Report, addresses: Anchors = ANCHORS) -> Iterator[str]:
    """Contradictions as pairs, both sides in full."""
    if not report.contradictions:
        return
    yield f'<section id="contradictions">\n<h2>Contradictions</h2>\n<p>{phrasing.BOTH_STAY}</p>\n'
    findings = report.by_number()
    for contradiction in report.contradictions:
        yield _pair(contradiction, findings[contradiction.number], findings[contradiction.other], addresses)
    yield "</section>\n"


def _pair(contradiction: Contradiction, first: Finding, second: Finding, addresses: Anchors) -> str:
    sides = "".join(
        f'<div>{_statement(side, addresses)}<p class="standing">{_standing(side)}</p>\n'
        f"{''.join(_passage(citation, side, addresses) for citation in side.citations)}</div>\n"
        for side in (first, second)
    )
    return (
        f'<div class="pair" role="group" aria-label="Findings {first.number} and {second.number}">\n'
        f'<div class="sides">{sides}</div>\n<p class="soft" dir="auto">{escape(phrasing.reason(contradiction))}</p>\n</div>\n'
    )


def asides(report: Report, addresses: Anchors = ANCHORS) -> Iterator[str]:
    """Facts that are no findings of the report, but linked to one."""
    if report.asides:
        yield f'<section id="asides">\n<h2>Linked facts</h2>\n<p class="soft">{escape(phrasing.ASIDE)}</p>\n'
        yield from map(partial(_finding, addresses), report.asides)
        yield "</section>\n"


def sources(report: Report, addresses: Anchors = ANCHORS) -> Iterator[str]:
    """The list of sources, with ways back to the findings."""
    yield '<section id="sources">\n<h2 class="sources">Sources</h2>\n<ol class="sources">\n'
    yield from map(partial(_source, addresses), report.sources)
    yield "</ol>\n</section>\n"


def _source(addresses: Anchors, source: Source) -> str:
    target = link(source.url)
    address = escape(one_line(source.url))
    if target:
        address = f'<a href="{escape(target)}" rel="noopener noreferrer nofollow">{address}</a>'
    about = "".join(f" · <bdi>{escape(part)}</bdi>" for part in phrasing.source_details(source)).removeprefix(
        " · "
    )
    numbers, more = phrasing.cited_by(source)
    backs = ", ".join(f"<a {addresses.finding(number)}>{number}</a>" for number in numbers)
    title = f"<strong><bdi>{escape(one_line(source.title))}</bdi></strong><br>" if source.title else ""
    return (
        f'<li id="s{source.number}"><span class="number">{source.number}</span>{title}'
        f'<span class="address">{address}</span><br><span class="soft">{about}</span><br> '
        f'<span class="soft">For finding {backs}{more}</span></li>\n'
    )
