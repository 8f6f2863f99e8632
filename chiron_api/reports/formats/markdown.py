"""A report as CommonMark. Whatever a fact holds is escaped: it can neither become markup nor leave its line."""

import re
from collections.abc import Iterator

from chiron_api.reports import phrasing as wording
from chiron_api.reports.links import link
from chiron_api.reports.phrasing import shown
from chiron_api.reports.report import Citation, Finding, Report, Source, SubjectPart
from chiron_api.text import usd

# Also what only Obsidian reads: tags begin with #, comments with %%, highlights with ==.
MARKUP = re.compile(r"([\\`*_\[\]<>|~&$^#]|%(?=%)|(?<=%)%|=(?==)|(?<==)=)")
# What begins a block where a line begins: lists, quotes, rules.
OPENING = re.compile(r"^([-+=>:](?=[\s\-=:]|$)|\d+(?=[.)]))")
CITED_BY_MAX = 100

Linked = frozenset[int]  # the numbers of the sources whose address is a link


def escaped(text: str) -> str:
    """A text as one line of Markdown that shows exactly these words."""
    line = MARKUP.sub(r"\\\1", shown(text))
    # A digit cannot be escaped, so what follows the number is.
    return re.sub(
        r"^(\d+)([.)])",
        r"\1\\\2",
        OPENING.sub(lambda found: found[0] if found[0].isdigit() else f"\\{found[0]}", line),
    )


def render(report: Report) -> Iterator[str]:
    """The document, piece by piece."""
    yield f"# {escaped(wording.heading(report))}\n\n{escaped(wording.origin_line(report))}\n\n"
    yield "".join(f"- {name}: {escaped(value)}\n" for name, value in wording.glance(report))
    yield f"\n{escaped(wording.CHECKED)}\n\n"
    for subject in report.subjects:
        yield from _goal(subject, is_named=len(report.subjects) > 1)
    linked = frozenset(source.number for source in report.sources if link(source.url))
    yield from _findings(report, linked)
    yield from _contradictions(report, linked)
    yield from _asides(report, linked)
    for subject in report.subjects:
        yield from _coverage(subject, is_named=len(report.subjects) > 1)
    yield from render_work(report)
    yield from render_words(report)
    yield from _sources(report)


def _goal(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    if subject.purpose:
        yield f"## Learning goal{_of(subject, is_named)}\n\n"
        yield from (f"{escaped(line)}\n\n" for line in wording.paragraphs(subject.purpose))
        yield f"Depth: {escaped(subject.depth)}\n\n"


def _findings(report: Report, linked: Linked) -> Iterator[str]:
    yield "## Findings\n\n"
    if not report.sections:
        yield f"{escaped(wording.NOTHING)}\n\n"
    titles = {subject.subject_id: subject.title for subject in report.subjects}
    for section in report.sections:
        name = f"{titles.get(section.subject_id, '')}: " if len(titles) > 1 else ""
        yield f"### {escaped(name + wording.path(section.topic_path))}\n\n"
        yield from (_finding(finding, linked) for finding in section.findings)


def _finding(finding: Finding, linked: Linked) -> str:
    lines = _backed(finding, linked)
    notes = [f"- {wording.relation(one)} finding {one.number}" for one in finding.relatives]
    notes += [f"- {escaped(wording.objection(text))}" for text in finding.objections]
    return "\n\n".join([*lines, *(["\n".join(notes)] if notes else [])]) + "\n\n"


def _backed(finding: Finding, linked: Linked) -> list[str]:
    sources = dict.fromkeys(citation.source for citation in finding.citations)
    cited = " ".join(_cite(source, linked) for source in sources)
    said = (
        f"**{finding.number}.** {escaped(finding.content)} {cited}\\\n*{escaped(wording.standing(finding))}*"
    )
    return [said, *(_passage(citation, linked) for citation in finding.citations)]


def _cite(source: int, linked: Linked) -> str:
    # A reference, whose definition stands below the list of sources.
    return f"[\\[{source}\\]][{source}]" if source in linked else f"\\[{source}\\]"


def _passage(citation: Citation, linked: Linked) -> str:
    said = f"> As this source puts it: {escaped(citation.wording)}\n>\n" if citation.wording else ""
    return f"{said}> {escaped(wording.passage(citation))} {_cite(citation.source, linked)}"


def _contradictions(report: Report, linked: Linked) -> Iterator[str]:
    if not report.contradictions:
        return
    yield f"## Contradictions\n\n{wording.BOTH_STAY}\n\n"
    known = report.by_number()
    for n, one in enumerate(report.contradictions, start=1):
        yield f"### {n}: finding {one.number} against finding {one.other}\n\n"
        for side in (known[one.number], known[one.other]):
            yield "\n\n".join(_backed(side, linked)) + "\n\n"
        yield f"{escaped(wording.because(one))}\n\n"


def _asides(report: Report, linked: Linked) -> Iterator[str]:
    if report.asides:
        yield f"## Linked facts\n\n{escaped(wording.ASIDE)}\n\n"
        yield from (_finding(finding, linked) for finding in report.asides)


def _coverage(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    yield f"## Coverage{_of(subject, is_named)}\n\n"
    yield from coverage(subject)


def coverage(subject: SubjectPart) -> Iterator[str]:
    """What is missing, then the map as a nested list."""
    if not subject.nodes:
        yield f"{escaped(wording.NO_MAP)}\n\n"
        return
    if missing := subject.missing:
        yield "### What is missing\n\n"
        yield (
            "".join(f"- {escaped(node.title)}{_critical(node.is_goal_critical)}\n" for node in missing) + "\n"
        )
    yield "### The map\n\n"
    for node in subject.nodes:
        critical = _critical(node.is_goal_critical)
        yield f"{'  ' * node.level}- {escaped(node.title)}{critical}: {wording.node_facts(node)}\n"
    yield "\n"
    yield from (f"{line}\n\n" for line in wording.map_notes(subject))


def _critical(is_critical: bool) -> str:
    return " (goal-critical)" if is_critical else ""


def render_work(report: Report) -> Iterator[str]:
    """What it took: failures, models, runs."""
    yield "## Runs and cost\n\n"
    if not report.work.run_count:
        yield f"{wording.NO_RUN}\n\n"
        return
    if failed := wording.failed(report):
        yield "### What failed\n\n"
        yield "".join(f"- {escaped(run.topic)}: {escaped(run.error)}\n" for run in failed) + "\n"
    yield "### Models\n\n"
    for one in report.work.models:
        yield (
            f"- {escaped(one.model)}: {wording.count(one.runs, 'run')}, {escaped(usd(one.spent_usd))}, "
            f"{one.input_tokens:,} tokens in, {one.output_tokens:,} out\n"
        )
    yield "\n### Runs\n\n"
    for run in report.work.runs:
        yield (
            f"- {escaped(run.topic)}: {run.state}, {wording.count(run.facts, 'fact')}, {escaped(usd(run.spent_usd))}, "
            f"{run.input_tokens + run.output_tokens:,} tokens, run {run.run_id}\n"
        )
    more = wording.runs_left_out(report)
    yield f"\n{more}\n\n" if more else "\n"


def render_words(report: Report) -> Iterator[str]:
    """What the agent of a run said itself, marked as such."""
    if report.agent_words:
        yield f"## {wording.OWN_WORDS}\n\n{escaped(wording.UNCHECKED)}\n\n"
        lines = (f"> {escaped(line)}\n" for line in wording.paragraphs(report.agent_words))
        yield ">\n".join(lines) + "\n"


def _sources(report: Report) -> Iterator[str]:
    yield "## Sources\n\n"
    for source in report.sources:
        yield f"{_source(source)}\n\n"
    for source in report.sources:
        if target := link(source.url):
            yield f"[{source.number}]: <{target}>\n"


def _source(source: Source) -> str:
    target = link(source.url)
    address = f"[{escaped(source.url)}](<{target}>)" if target else escaped(source.url)
    parts = [escaped(source.title), address, *map(escaped, wording.about(source))]
    numbers = ", ".join(map(str, source.cited_by[:CITED_BY_MAX]))
    more = f" and {len(source.cited_by) - CITED_BY_MAX:,} more" if len(source.cited_by) > CITED_BY_MAX else ""
    return f"**\\[{source.number}\\]** {' · '.join(part for part in parts if part)} · for finding {numbers}{more}"


def _of(subject: SubjectPart, is_named: bool) -> str:
    return f": {escaped(subject.title)}" if is_named else ""
