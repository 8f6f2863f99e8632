"""A report as a folder of linked notes, for Obsidian and whatever else reads Markdown with wikilinks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from chiron_api.reports import phrasing, question_phrasing, summary
from chiron_api.reports.formats import markdown, markdown_answer, markdown_summary
from chiron_api.reports.formats.file_names import file_name
from chiron_api.reports.formats.markdown_text import escape
from chiron_api.reports.formats.note_folder import write_notes
from chiron_api.reports.report import Finding, Report, Section, Source
from chiron_api.reports.write import Format
from chiron_api.text import count
from chiron_workers.documents.omissions import describe
from chiron_workers.states import ReportKind

INDEX = "Index"
Step = tuple[str, ...]  # the subject and the steps of a topic path that lead to a note


@dataclass(slots=True)
class _NoteNames:
    """What each note is called, and where each finding stands."""

    report: Report
    findings: dict[Step, tuple[Finding, ...]]
    topics: dict[Step, str] = field(default_factory=dict)
    questions: dict[str, Section] = field(default_factory=dict)  # by the names of their notes
    contexts: dict[str, str] = field(default_factory=dict)  # of questions, by the ids of their runs
    below: dict[Step, list[str]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[int, str] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)
    linked_facts: str = ""


def notes(report: Report) -> Iterator[tuple[str, str]]:
    """Each note as (name of its file within the folder, with `/`, and text); all links between them resolve."""
    names = _name_notes(report)
    yield f"{INDEX}.md", "".join(_index(names))
    for name, section in names.questions.items():
        yield f"{name}.md", "".join(_question(section, names))
    for step, name in names.topics.items():
        yield f"{name}.md", _topic(step, names)
    if names.linked_facts:
        front = _front({"chiron": "linked facts"})
        findings = "".join(_finding(finding, names) for finding in report.asides)
        yield f"{names.linked_facts}.md", f"{front}# Linked facts\n\n{escape(phrasing.ASIDE)}\n\n{findings}"
    for source in report.sources:
        yield f"{names.sources[source.number]}.md", _source(source, names)


def _name_notes(report: Report) -> _NoteNames:
    findings_by_step = {
        (section.subject_id, *section.topic_path.split("/")): section.findings
        for section in report.sections
        if section.question is None
    }
    names, used_names = _NoteNames(report, findings_by_step), {"index"}
    names.contexts = phrasing.question_contexts(report)
    for title, section in phrasing.titled_sections(report):
        if section.question:
            name = f"Questions/{file_name(title, used_names)}"
            names.questions[name] = section
            names.places |= dict.fromkeys((finding.number for finding in section.findings), name)
    topics = {step[:n]: None for step in names.findings for n in range(1, len(step) + 1)}
    titles = {subject.subject_id: subject.title for subject in report.subjects}
    for step in topics:
        title = step[-1] if len(step) > 1 else titles.get(step[0], step[0])
        names.topics[step] = f"Topics/{file_name(title, used_names)}"
        names.below[step[:-1]].append(names.topics[step])
    for source in report.sources:
        names.sources[source.number] = f"Sources/{file_name(f'{source.number} {source.name}', used_names)}"
    for step, findings in names.findings.items():
        names.places |= dict.fromkeys((finding.number for finding in findings), names.topics[step])
    if report.asides:
        names.linked_facts = file_name("Linked facts", used_names)
        names.places |= dict.fromkeys((finding.number for finding in report.asides), names.linked_facts)
    return names


def _front(properties: dict[str, object]) -> str:
    import yaml

    return f"---\n{yaml.safe_dump(properties, allow_unicode=True, sort_keys=False, width=1_000)}---\n\n"


def _wiki(note: str, text: str, block: int | None = None) -> str:
    place = note if block is None else f"{note}#^f{block}"
    return f"[[{place}|{text}]]"


def _name(note: str) -> str:
    return note.rpartition("/")[2]


def _index(names: _NoteNames) -> Iterator[str]:
    report = names.report

    yield _front(
        {"chiron": "report", "kind": str(report.kind), "id": report.id, "made_at": report.made_at.isoformat()}
    )
    place = partial(_place, names=names)
    is_subject = report.kind is ReportKind.SUBJECT
    yield f"# {escape(phrasing.heading(report))}\n\n{escape(summary.lead(report))}\n\n"
    yield from markdown_answer.written(report, partial(_cite, names), place)
    # A bar within a cell would end it.
    yield from markdown_summary.opening(report, lambda number: place(number).replace("|", "\\|"))
    yield from markdown_summary.charts(report, lambda number: place(number).replace("|", "\\|"))
    if names.questions:
        yield f"## {phrasing.QUESTIONS_HEADING}\n\n"
        yield from (f"{escape(note)}\n\n" for note in phrasing.client_notes(report))
        yield "".join(f"- {_wiki(name, _name(name))}\n" for name in names.questions) + "\n"
    if is_subject:
        yield from markdown_answer.said(report, partial(_cite, names))
    if names.topics or not names.questions:
        yield "## Topics\n\n"
    yield "".join(
        f"{'  ' * (len(step) - 1)}- {_wiki(name, _name(name))}\n" for step, name in names.topics.items()
    )
    yield from _contradictions(names)
    if names.linked_facts:
        yield f"\n- {_wiki(names.linked_facts, 'Linked facts')}\n"
    for subject in report.subjects:
        if subject.nodes or subject.purpose or is_subject:
            yield f"\n## Coverage: {escape(subject.title)}\n\n"
            yield from (f"{escape(line)}\n\n" for line in phrasing.paragraphs(subject.purpose))
        if subject.nodes or is_subject:
            yield from markdown.coverage(subject)
    yield "\n## Sources\n\n"
    yield "".join(f"- {_wiki(name, _name(name))}\n" for name in names.sources.values()) + "\n"
    yield from markdown.render_making(report)


def _contradictions(names: _NoteNames) -> Iterator[str]:
    if names.report.contradictions:
        yield "\n## Contradictions\n\n"
    findings = names.report.by_number()
    for contradiction in names.report.contradictions:
        sides = (
            f"{_place(finding.number, names)} {escape(finding.content)}"
            for finding in (findings[contradiction.number], findings[contradiction.other])
        )
        yield f"- {' **against** '.join(sides)} ({escape(phrasing.reason(contradiction))})\n"


def _topic(step: Step, names: _NoteNames) -> str:
    properties: dict[str, object] = {"chiron": "topic", "subject": step[0], "path": "/".join(step[1:])}
    above = names.topics[step[:-1]] if len(step) > 1 else INDEX
    below = names.below.get(step, [])
    parts = [
        _front(properties | {"up": _wiki(above, _name(above))}),
        f"# {escape(step[-1])}\n\n",
        "".join(f"- {_wiki(name, _name(name))}\n" for name in below) + "\n" * bool(below),
        *(_finding(finding, names) for finding in names.findings.get(step, ())),
    ]
    return "".join(parts)


def _question(section: Section, names: _NoteNames) -> Iterator[str]:
    question = section.question
    assert question is not None
    yield _front(
        {
            "chiron": "question",
            "number": question.number,
            "run": question.run_id,
            "state": str(question.state),
            "up": _wiki(INDEX, INDEX),
        }
    )
    yield f"# {escape(phrasing.numbered_topic(question, names.report))}\n\n"
    answers = {answer.run_id: answer for answer in names.report.run_answers}
    yield from markdown_answer.question(
        section, answers, names.contexts, partial(_cite, names), lambda number: _place(number, names)
    )
    yield from (
        _finding(finding, names, question_phrasing.finding_mark(section, finding))
        for finding in section.findings
    )


def _cite(names: _NoteNames, sources: Sequence[int]) -> str:
    return " ".join(_source_link(source, names) for source in sources)


def _finding(finding: Finding, names: _NoteNames, mark: str = "") -> str:
    number = finding.number
    lines = [
        f"**{number}.** {escape(finding.content)} *{escape(phrasing.confidence_line(finding, mark))}* ^f{number}",
        *(
            markdown.passage(citation, finding.content, _source_link(citation.source, names))
            for citation in finding.citations
        ),
    ]
    return markdown.with_notes(lines, finding, lambda other: _place(other, names))


def _source_link(number: int, names: _NoteNames) -> str:
    return _wiki(names.sources[number], _name(names.sources[number]))


def _place(number: int, names: _NoteNames) -> str:
    return _wiki(names.places[number], f"finding {number}", number)


def _source(source: Source, names: _NoteNames) -> str:
    properties = {
        "chiron": "source",
        "number": source.number,
        "title": phrasing.one_line(source.title),
        "author": phrasing.one_line(source.author),
        "authors": [phrasing.one_line(name) for name in source.authors],
        "doi": source.doi,
        "published": phrasing.day(source.published_at),
        "licence": phrasing.one_line(source.licence),
        "address": phrasing.one_line(source.url),
        "left_out": phrasing.one_line(describe(source.left_out)),
        "fetched": phrasing.minute(source.fetched_at) if source.fetched_at else "",
    }
    address = markdown.address(source)
    about = "".join(f"- {escape(part)}\n" for part in phrasing.source_details(source))
    backs = "".join(f"- {_place(number, names)}\n" for number in source.cited_by)
    return f"{_front(properties)}# {escape(source.name)}\n\n{address}\n\n{about}\n## Findings that rest on it\n\n{backs}"


def _write(report: Report, folder: Path, force: bool) -> str:
    note_count = write_notes(folder, notes(report), force=force)
    return f"{count(note_count, 'note')} written to {folder}; begin with {folder / INDEX}.md."


FORMAT = Format("obsidian", order=5, is_text=False, write_folder=_write)
