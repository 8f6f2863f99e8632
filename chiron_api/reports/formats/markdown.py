"""A report as CommonMark, with tables. Whatever a fact holds is escaped: it can neither become markup nor leave its line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from chiron_api.reports import making, phrasing, question_phrasing, summary
from chiron_api.reports.formats import markdown_answer, markdown_summary
from chiron_api.reports.formats.markdown_text import escape
from chiron_api.reports.links import link
from chiron_api.reports.report import Citation, Finding, Report, Source, SubjectPart
from chiron_api.reports.write import Format
from chiron_api.text import cost_phrase, count, facts_phrase, services_phrase, tokens, tokens_by_name
from chiron_workers.states import ReportKind

Links = Mapping[int, str]  # where sources lead, by their numbers; without those whose address can be no link
PLACE = "finding {}".format  # how a finding is named
escape_often = lru_cache(maxsize=1_024)(escape)  # of a line that many findings have


def render(report: Report) -> Iterator[str]:
    """The document, piece by piece."""
    links = linked_sources(report)
    cite, is_subject = partial(_references, links=links), report.kind is ReportKind.SUBJECT
    yield f"# {escape(phrasing.heading(report))}\n\n{escape(summary.lead(report))}\n\n"
    yield from markdown_answer.written(report, cite, PLACE)
    yield from markdown_summary.opening(report, PLACE)
    yield from markdown_summary.charts(report, PLACE)
    if is_subject:
        yield from markdown_answer.said(report, cite)
    yield from _findings(report, links)
    yield from _contradictions(report, links)
    yield from _asides(report, links)
    for subject in report.subjects:
        yield from _goal(subject, is_named=len(report.subjects) > 1)
        if subject.nodes or is_subject:
            yield from _coverage(subject, is_named=len(report.subjects) > 1)
    yield from _sources(report, links)
    yield from render_making(report)
    yield from (f"[{number}]: <{target}>\n" for number, target in links.items())


def _goal(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    if subject.purpose:
        yield f"## Learning goal{_of(subject, is_named)}\n\n"
        yield from (f"{escape(line)}\n\n" for line in phrasing.paragraphs(subject.purpose))
        yield f"Depth: {escape(subject.depth)}\n\n"


def _findings(report: Report, links: Links) -> Iterator[str]:
    yield f"## {phrasing.findings_heading(report)}\n\n"
    yield from (f"{escape(note)}\n\n" for note in phrasing.client_notes(report))
    if not report.sections:
        yield f"{escape(phrasing.no_findings(report))}\n\n"
    answers = {answer.run_id: answer for answer in report.run_answers}
    contexts = phrasing.question_contexts(report)
    for title, section in phrasing.titled_sections(report):
        yield f"### {escape(title)}\n\n"
        yield from markdown_answer.question(
            section, answers, contexts, partial(_references, links=links), PLACE
        )
        yield from (
            _finding(finding, links, question_phrasing.finding_mark(section, finding))
            for finding in section.findings
        )


def _finding(finding: Finding, links: Links, mark: str = "") -> str:
    lines = _statement_and_quotes(finding, links, mark)
    return with_notes(lines, finding, PLACE)


def with_notes(lines: Sequence[str], finding: Finding, place: Callable[[int], str]) -> str:
    """The lines of a finding, then how others stand to it and what was noted against it."""
    if not (finding.relatives or finding.objections):  # most findings
        return "\n\n".join(lines) + "\n\n"
    notes = [f"- {phrasing.relation(relative)} {place(relative.number)}" for relative in finding.relatives]
    notes += [f"- {escape(phrasing.objection(text))}" for text in finding.objections]
    return "\n\n".join([*lines, "\n".join(notes)]) + "\n\n"


def _statement_and_quotes(finding: Finding, links: Links, mark: str = "") -> list[str]:
    references = {citation.source: _reference(citation.source, links) for citation in finding.citations}
    sureness = escape_often(phrasing.confidence_line(finding, mark))
    statement = (
        f"**{finding.number}.** {escape(finding.content)} {' '.join(references.values())}\\\n*{sureness}*"
    )
    return [
        statement,
        *[passage(citation, finding.content, references[citation.source]) for citation in finding.citations],
    ]


def _references(sources: Sequence[int], links: Links) -> str:
    return " ".join(_reference(source, links) for source in dict.fromkeys(sources))


def linked_sources(report: Report) -> Links:
    """Where the sources lead whose address can be a link."""
    targets = ((source.number, link(source.url)) for source in report.sources)
    return {number: target for number, target in targets if target}


def _reference(source: int, links: Links) -> str:
    # A reference, whose definition stands below the list of sources.
    return f"[\\[{source}\\]][{source}]" if source in links else f"\\[{source}\\]"


def passage(citation: Citation, statement: str, reference: str) -> str:
    """What a source says of a statement, as a quote that ends with a reference to the source."""
    wording = f"> As this source puts it: {escape(citation.wording)}\n>\n" if citation.wording else ""
    return f"{wording}> {escape(phrasing.passage(citation, statement))} {reference}"


def _contradictions(report: Report, links: Links) -> Iterator[str]:
    if not report.contradictions:
        return
    yield f"## Contradictions\n\n{phrasing.BOTH_STAY}\n\n"
    findings = report.by_number()
    for n, contradiction in enumerate(report.contradictions, start=1):
        yield f"### {n}: finding {contradiction.number} against finding {contradiction.other}\n\n"
        for finding in (findings[contradiction.number], findings[contradiction.other]):
            yield "\n\n".join(_statement_and_quotes(finding, links)) + "\n\n"
        yield f"{escape(phrasing.reason(contradiction))}\n\n"


def _asides(report: Report, links: Links) -> Iterator[str]:
    if report.asides:
        yield f"## Linked facts\n\n{escape(phrasing.ASIDE)}\n\n"
        yield from (_finding(finding, links) for finding in report.asides)


def _coverage(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    yield f"## Coverage{_of(subject, is_named)}\n\n"
    yield from coverage(subject)


def coverage(subject: SubjectPart) -> Iterator[str]:
    """What is missing, then the map as a nested list."""
    if not subject.nodes:
        yield f"{escape(phrasing.NO_MAP)}\n\n"
        return
    if missing_nodes := subject.missing:
        yield "### What is missing\n\n"
        yield (
            "".join(f"- {escape(node.title)}{_critical(node.is_goal_critical)}\n" for node in missing_nodes)
            + "\n"
        )
    yield "### The map\n\n"
    for node in subject.nodes:
        critical = _critical(node.is_goal_critical)
        yield f"{'  ' * node.level}- {escape(node.title)}{critical}: {phrasing.node_facts(node)}\n"
    yield "\n"
    yield from (f"{line}\n\n" for line in phrasing.map_notes(subject))


def _critical(is_critical: bool) -> str:
    return " (goal-critical)" if is_critical else ""


def render_making(report: Report) -> Iterator[str]:
    """How the report was made: whose words are whose, the report in numbers, failures, models, runs."""
    yield f"## {making.HEADING}\n\n"
    yield from (f"{escape(note)}\n\n" for note in making.notes(report))
    yield "".join(f"- {name}: {escape(value)}\n" for name, value in phrasing.summary(report)) + "\n"
    if not report.work.run_count:
        yield f"{phrasing.NO_RUN}\n\n"
        return
    if failed_runs := phrasing.failed_runs(report):
        yield "### What failed\n\n"
        yield (
            "".join(
                f"- {escape(phrasing.numbered_topic(run, report))}: {escape(run.error)}\n"
                for run in failed_runs
            )
            + "\n"
        )
    yield "### Models\n\n"
    for model in report.work.models:
        yield (
            f"- {escape(model.model)}: {count(model.runs, 'run')}, {escape(cost_phrase(model))}, "
            f"tokens: {tokens(model)}\n"
        )
    if services := services_phrase(report.work):
        yield f"- Embeddings and searches of hosted services: {services}\n"
    yield "\n### Runs\n\n"
    for run in report.work.runs:
        facts = facts_phrase(run.facts, run.confirmed, run.cited)
        yield (
            f"- {escape(phrasing.numbered_topic(run, report))}: {run.state}, {facts}, {escape(cost_phrase(run))}, "
            f"{count(sum(tokens_by_name(run).values()), 'token')}, run {run.run_id}\n"
        )
    omitted_note = phrasing.runs_left_out(report)
    yield f"\n{omitted_note}\n\n" if omitted_note else "\n"


def _sources(report: Report, links: Links) -> Iterator[str]:
    yield "## Sources\n\n"
    for source in report.sources:
        yield f"{_source(source, links)}\n\n"


def _source(source: Source, links: Links) -> str:
    address = _address(source, links.get(source.number))
    parts = [escape(source.title), address, *map(escape, phrasing.source_details(source))]
    numbers, tail = phrasing.cited_by(source)
    cited_by = ", ".join(map(str, numbers)) + tail
    return f"**\\[{source.number}\\]** {' · '.join(part for part in parts if part)} · for finding {cited_by}"


def address(source: Source) -> str:
    """The address of a source, as a link where it can be one."""
    return _address(source, link(source.url))


def _address(source: Source, target: str | None) -> str:
    return f"[{escape(source.url)}](<{target}>)" if target else escape(source.url)


def _of(subject: SubjectPart, is_named: bool) -> str:
    return f": {escape(subject.title)}" if is_named else ""


FORMAT = Format("md", order=1, media_type="text/markdown; charset=utf-8", render=render)
