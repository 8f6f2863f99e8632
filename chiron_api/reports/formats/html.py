"""A report as one HTML file that loads nothing: readable on a phone, in the dark and on paper."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

from chiron_api.reports import answer_phrasing, making, phrasing, summary
from chiron_api.reports.formats import html_answer, html_summary
from chiron_api.reports.formats.html_findings import asides, contradictions, findings, sources
from chiron_api.reports.formats.html_work import coverage, made
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, SubjectPart
from chiron_api.reports.write import Format
from chiron_workers.states import ReportKind


def render(report: Report) -> Iterator[str]:
    """The page, piece by piece."""
    is_subject = report.kind is ReportKind.SUBJECT
    yield from _head(report)
    yield '<main id="content">\n'
    yield from html_answer.written(report, has_origin=False)
    yield from html_summary.opening(report)
    yield from html_summary.charts(report)
    yield from html_answer.said(report)
    yield from findings(report, notes=phrasing.client_notes(report))
    yield from contradictions(report)
    yield from asides(report)
    for subject in report.subjects:
        yield from _goal(subject, is_named=len(report.subjects) > 1)
        if subject.nodes or is_subject:
            yield from coverage(subject, is_named=len(report.subjects) > 1)
    yield from sources(report)
    yield from made(report)
    yield "</main>\n</body>\n</html>\n"


@cache
def style() -> str:
    """The style sheet."""
    return Path(__file__).with_name("report.css").read_text()


@cache
def policy() -> str:
    """The Content-Security-Policy under which the page works: nothing is loaded, nothing runs."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(report: Report) -> Iterator[str]:
    title = escape(phrasing.heading(report))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="Chiron">\n'
        f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header>\n<h1 dir="auto">{title}</h1>\n<p class="lead" dir="auto">{escape(summary.lead(report))}</p>\n</header>\n'
    )
    yield f'<nav aria-label="Contents">\n<ul>{"".join(_contents(report))}</ul>\n</nav>\n'


def _contents(report: Report) -> Iterator[str]:
    if report.answer:
        yield _entry("answer", answer_phrasing.HEADING)
    if report.table or summary.summary_lines(report):
        yield _entry("summary", summary.HEADING)
    if report.charts:
        yield _entry("charts", "Charts")
    if report.run_answers and report.kind is ReportKind.SUBJECT:
        yield _entry("words", answer_phrasing.RUNS_HEADING)
    yield _entry("findings", phrasing.findings_heading(report))
    if report.contradictions:
        yield _entry("contradictions", "Contradictions")
    mapped_subjects = [
        subject for subject in report.subjects if subject.nodes or report.kind is ReportKind.SUBJECT
    ]
    yield from (_entry(f"coverage-{subject.subject_id}", "Coverage") for subject in mapped_subjects[:1])
    yield _entry("sources", "Sources")
    yield _entry("work", making.HEADING)


def _entry(anchor: str, text: str) -> str:
    return f'<li><a href="#{anchor}">{escape(text)}</a></li>'


def _goal(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    if subject.purpose:
        name = f": {one_line(subject.title)}" if is_named else ""
        yield f"<section>\n<h2>Learning goal{escape(name)}</h2>\n"
        lines = "".join(f'<p dir="auto">{escape(line)}</p>' for line in phrasing.paragraphs(subject.purpose))
        yield f'<div class="goal">{lines}</div>\n<p class="soft">Depth: {escape(one_line(subject.depth))}</p>\n</section>\n'


FORMAT = Format(
    "html",
    order=2,
    media_type="text/html; charset=utf-8",
    headers={"Content-Security-Policy": policy()},
    render=render,
)
