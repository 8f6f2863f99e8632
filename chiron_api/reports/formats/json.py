"""A report as JSON with everything in it; docs/reports.md says what stays as it is."""

from collections.abc import Iterable, Iterator, Mapping

from chiron_api.reports import summary
from chiron_api.reports.links import link
from chiron_api.reports.report import Citation, Finding, Report, Section, Source, SubjectPart
from chiron_api.reports.selections import target
from chiron_api.reports.write import Format
from chiron_api.text import as_json

SCHEMA = "chiron.report"
VERSION = 2


def render(report: Report) -> Iterator[str]:
    """The document, piece by piece: one line for each finding and each source."""
    head = {
        "format": SCHEMA,
        "version": VERSION,
        "kind": report.kind,
        "id": report.id,
        "title": report.title,
        "made_at": report.made_at,
        "with_candidates": report.with_candidates,
        "counts": report.counts,
        "left_out": report.left_out,
        "subjects": [
            _fields(subject) | {"missing": [node.node_id for node in subject.missing]}
            for subject in report.subjects
        ],
        "contradictions": report.contradictions,
        "work": report.work,
        "unchecked_agent_words": report.agent_words,
        "answer": report.answer,
        "run_answers": report.run_answers,
        "questions_left_out": report.questions_left_out,
        "charts": report.charts,
        "table": report.table,
        "lead": summary.lead(report),
        "summary": summary.summary_lines(report),
    }
    yield as_json(head).removesuffix("}") + ',\n"sections": ['
    sources = {source.number: source for source in report.sources}
    for n, section in enumerate(report.sections):
        yield ",\n" * bool(n)
        yield from _section(section, sources)
    yield '],\n"asides": ['
    yield from _lines(_finding(finding, sources) for finding in report.asides)
    yield '],\n"sources": ['
    yield from _lines(_fields(source) | {"link": link(source.url)} for source in report.sources)
    yield "]}\n"


def _section(section: Section, sources: Mapping[int, Source]) -> Iterator[str]:
    head = as_json(
        {"subject_id": section.subject_id, "topic_path": section.topic_path, "question": section.question}
    )
    yield head.removesuffix("}") + ', "findings": ['
    yield from _lines(_finding(finding, sources) for finding in section.findings)
    yield "]}"


def _lines(values: Iterable[object]) -> Iterator[str]:
    for n, value in enumerate(values):
        yield (",\n" if n else "\n") + as_json(value)


def _finding(finding: Finding, sources: Mapping[int, Source]) -> dict[str, object]:
    citations = [_citation(citation, sources[citation.source]) for citation in finding.citations]
    return _fields(finding) | {"is_verified": finding.is_verified, "citations": citations}


def _citation(citation: Citation, source: Source) -> dict[str, object]:
    fields = _fields(citation)
    del fields["selection"]
    return fields | {"target": target(citation, source, cached=f"hash://sha256/{source.snapshot_hash}")}


def _fields(value: Citation | Finding | Source | SubjectPart) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}


FORMAT = Format("json", order=3, media_type="application/json", has_selections=True, render=render)
