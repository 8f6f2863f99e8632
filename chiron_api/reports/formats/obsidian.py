"""A report as a folder of linked notes, for Obsidian and whatever else reads Markdown with wikilinks."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from chiron_api.reports import phrasing as wording
from chiron_api.reports.formats.file_names import file_name
from chiron_api.reports.formats.markdown import coverage, escaped, render_words, render_work
from chiron_api.reports.links import link
from chiron_api.reports.report import Citation, Finding, Report, Source

INDEX = "Index"
Step = tuple[str, ...]  # the subject and the steps of a topic path that lead to a note


@dataclass(slots=True)
class _Notes:
    """What each note is called, and where each finding stands."""

    report: Report
    findings: dict[Step, tuple[Finding, ...]]
    topics: dict[Step, str] = field(default_factory=dict)
    below: dict[Step, list[str]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[int, str] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)
    linked: str = ""


def notes(report: Report) -> Iterator[tuple[str, str]]:
    """Each note as (name of its file within the folder, with `/`, and text); all links between them resolve."""
    named = _named(report)
    yield f"{INDEX}.md", "".join(_index(named))
    for step, name in named.topics.items():
        yield f"{name}.md", _topic(step, named)
    if named.linked:
        front = _front({"chiron": "linked facts"})
        said = "".join(_finding(finding, named) for finding in report.asides)
        yield f"{named.linked}.md", f"{front}# Linked facts\n\n{escaped(wording.ASIDE)}\n\n{said}"
    for source in report.sources:
        yield f"{named.sources[source.number]}.md", _source(source, named)


def _named(report: Report) -> _Notes:
    found, taken = _Notes(report, _findings_by_topic(report)), {"index"}
    topics = {step[:n]: None for step in found.findings for n in range(1, len(step) + 1)}
    titles = {subject.subject_id: subject.title for subject in report.subjects}
    for step in topics:
        title = step[-1] if len(step) > 1 else titles.get(step[0], step[0])
        found.topics[step] = f"Topics/{file_name(title, taken)}"
        found.below[step[:-1]].append(found.topics[step])
    for source in report.sources:
        found.sources[source.number] = f"Sources/{file_name(f'{source.number} {source.name}', taken)}"
    for step, findings in found.findings.items():
        found.places |= dict.fromkeys((finding.number for finding in findings), found.topics[step])
    if report.asides:
        found.linked = file_name("Linked facts", taken)
        found.places |= dict.fromkeys((finding.number for finding in report.asides), found.linked)
    return found


def _findings_by_topic(report: Report) -> dict[Step, tuple[Finding, ...]]:
    return {
        (section.subject_id, *section.topic_path.split("/")): section.findings for section in report.sections
    }


def _front(properties: dict[str, object]) -> str:
    return f"---\n{yaml.safe_dump(properties, allow_unicode=True, sort_keys=False, width=1_000)}---\n\n"


def _wiki(note: str, text: str, block: int | None = None) -> str:
    place = note if block is None else f"{note}#^f{block}"
    return f"[[{place}|{text}]]"


def _name(note: str) -> str:
    return note.rpartition("/")[2]


def _index(named: _Notes) -> Iterator[str]:
    report = named.report
    yield _front(
        {"chiron": "report", "kind": str(report.kind), "id": report.id, "made_at": report.made_at.isoformat()}
    )
    yield f"# {escaped(wording.heading(report))}\n\n{escaped(wording.origin_line(report))}\n\n"
    yield "".join(f"- {name}: {escaped(value)}\n" for name, value in wording.glance(report))
    yield f"\n{escaped(wording.CHECKED)}\n\n## Topics\n\n"
    yield "".join(
        f"{'  ' * (len(step) - 1)}- {_wiki(name, _name(name))}\n" for step, name in named.topics.items()
    )
    if named.linked:
        yield f"- {_wiki(named.linked, 'Linked facts')}\n"
    yield from _contradictions(named)
    for subject in report.subjects:
        yield f"\n## Coverage: {escaped(subject.title)}\n\n"
        yield from (f"{escaped(line)}\n\n" for line in wording.paragraphs(subject.purpose))
        yield from coverage(subject)
    yield from render_work(report)
    yield from render_words(report)
    yield "## Sources\n\n"
    yield "".join(f"- {_wiki(name, _name(name))}\n" for name in named.sources.values())


def _contradictions(named: _Notes) -> Iterator[str]:
    if named.report.contradictions:
        yield "\n## Contradictions\n\n"
    known = named.report.by_number()
    for one in named.report.contradictions:
        sides = (
            f"{_place(side.number, named)} {escaped(side.content)}"
            for side in (known[one.number], known[one.other])
        )
        yield f"- {' **against** '.join(sides)} ({escaped(wording.because(one))})\n"


def _topic(step: Step, named: _Notes) -> str:
    properties: dict[str, object] = {"chiron": "topic", "subject": step[0], "path": "/".join(step[1:])}
    above = named.topics[step[:-1]] if len(step) > 1 else INDEX
    below = named.below.get(step, [])
    parts = [
        _front(properties | {"up": _wiki(above, _name(above))}),
        f"# {escaped(step[-1])}\n\n",
        "".join(f"- {_wiki(name, _name(name))}\n" for name in below) + "\n" * bool(below),
        *(_finding(finding, named) for finding in named.findings.get(step, ())),
    ]
    return "".join(parts)


def _finding(finding: Finding, named: _Notes) -> str:
    number = finding.number
    lines = [
        f"**{number}.** {escaped(finding.content)} *{escaped(wording.standing(finding))}* ^f{number}",
        *(_passage(citation, named) for citation in finding.citations),
    ]
    notes = [f"- {wording.relation(one)} {_place(one.number, named)}" for one in finding.relatives]
    notes += [f"- {escaped(wording.objection(text))}" for text in finding.objections]
    return "\n\n".join([*lines, *(["\n".join(notes)] if notes else [])]) + "\n\n"


def _passage(citation: Citation, named: _Notes) -> str:
    said = f"> As this source puts it: {escaped(citation.wording)}\n>\n" if citation.wording else ""
    source = named.sources[citation.source]
    return f"{said}> {escaped(wording.passage(citation))} {_wiki(source, _name(source))}"


def _place(number: int, named: _Notes) -> str:
    return _wiki(named.places[number], f"finding {number}", number)


def _source(source: Source, named: _Notes) -> str:
    properties = {
        "chiron": "source",
        "number": source.number,
        "title": wording.shown(source.title),
        "author": wording.shown(source.author),
        "published": wording.day(source.published_at),
        "licence": wording.shown(source.licence),
        "address": wording.shown(source.url),
        "fetched": wording.minute(source.fetched_at) if source.fetched_at else "",
    }
    target = link(source.url)
    address = f"[{escaped(source.url)}](<{target}>)" if target else escaped(source.url)
    about = "".join(f"- {escaped(part)}\n" for part in wording.about(source))
    backs = "".join(f"- {_place(number, named)}\n" for number in source.cited_by)
    return f"{_front(properties)}# {escaped(source.name)}\n\n{address}\n\n{about}\n## Findings that rest on it\n\n{backs}"
