"""A report as one HTML file that loads nothing: readable on a phone, in the dark and on paper."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from pathlib import Path

from chiron_api.reports import wording
from chiron_api.reports.addresses import link
from chiron_api.reports.report import Citation, Contradiction, Finding, Report, Source, SubjectPart
from chiron_api.reports.wording import shown
from chiron_api.terminal import usd

CONTENTS_MAX = 40
CITED_BY_MAX = 100
RUN_COLUMNS = ("Topic", "State", "Facts", "Turns", "Cost", "Tokens")
MODEL_COLUMNS = ("Model", "Runs", "Cost", "Tokens in", "Tokens out")


def render(report: Report) -> Iterator[str]:
    """The page, piece by piece."""
    yield from _head(report)
    yield '<main id="content">\n'
    for subject in report.subjects:
        yield from _goal(subject, is_named=len(report.subjects) > 1)
    yield from _findings(report)
    yield from _contradictions(report)
    yield from _asides(report)
    for subject in report.subjects:
        yield from _coverage(subject, is_named=len(report.subjects) > 1)
    yield from _work(report)
    yield from _agent_words(report)
    yield from _sources(report)
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
    title = escape(wording.heading(report))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="Chiron">\n'
        f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header>\n<h1 dir="auto">{title}</h1>\n<p class="soft">{escape(wording.origin_line(report))}</p>\n'
    )
    pairs = (f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in wording.glance(report))
    yield f'<dl class="glance">{"".join(pairs)}</dl>\n<p class="soft">{escape(wording.CHECKED)}</p>\n</header>\n'
    yield f'<nav aria-label="Contents">\n<ul>{"".join(_contents(report))}</ul>\n</nav>\n'


def _contents(report: Report) -> Iterator[str]:
    is_short = 0 < len(report.sections) <= CONTENTS_MAX
    topics = "".join(
        _entry(f"t{n}", wording.path(section.topic_path))
        for n, section in enumerate(report.sections, start=1)
    )
    yield _entry("findings", "Findings", f"<ul>{topics}</ul>" if is_short else "")
    if report.contradictions:
        yield _entry("contradictions", "Contradictions")
    yield from (_entry(f"coverage-{subject.subject_id}", "Coverage") for subject in report.subjects[:1])
    yield _entry("work", "Runs and cost")
    yield _entry("sources", "Sources")


def _entry(anchor: str, text: str, below: str = "") -> str:
    return f'<li><a href="#{anchor}">{escape(text)}</a>{below}</li>'


def _goal(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    if subject.purpose:
        name = f": {shown(subject.title)}" if is_named else ""
        yield f"<section>\n<h2>Learning goal{escape(name)}</h2>\n"
        lines = "".join(f'<p dir="auto">{escape(line)}</p>' for line in wording.paragraphs(subject.purpose))
        yield f'<div class="goal">{lines}</div>\n<p class="soft">Depth: {escape(shown(subject.depth))}</p>\n</section>\n'


def _findings(report: Report) -> Iterator[str]:
    yield '<section id="findings">\n<h2>Findings</h2>\n'
    if not report.sections:
        yield f"<p>{wording.NOTHING}</p>\n"
    titles = {subject.subject_id: shown(subject.title) for subject in report.subjects}
    for n, section in enumerate(report.sections, start=1):
        name = f"{titles.get(section.subject_id, '')}: " if len(titles) > 1 else ""
        yield f'<h3 id="t{n}" dir="auto">{escape(name + wording.path(section.topic_path))}</h3>\n'
        yield from map(_finding, section.findings)
    yield "</section>\n"


def _finding(finding: Finding) -> str:
    number = finding.number
    parts = [
        f'<article class="finding" id="f{number}" aria-label="Finding {number}">\n{_statement(finding)}',
        f'<p class="standing">{_standing(finding)}</p>\n',
        *map(_passage, finding.citations),
        _links(finding),
        "</article>\n",
    ]
    return "".join(parts)


def _statement(finding: Finding) -> str:
    number = finding.number
    return (
        f'<p><a class="number" href="#f{number}" aria-label="Finding {number}">{number}</a>'
        f"<bdi>{escape(shown(finding.content))}</bdi> {_cites(finding)}</p>\n"
    )


def _cites(finding: Finding) -> str:
    numbers = dict.fromkeys(citation.source for citation in finding.citations)
    return " ".join(map(_cite, numbers))


def _cite(source: int) -> str:
    return f'<a class="cite" href="#s{source}" aria-label="Source {source}">[{source}]</a>'


def _standing(finding: Finding) -> str:
    marked = "".join(f' · <span class="mark">{mark}</span>' for mark in wording.marks(finding))
    return f"{escape(wording.sureness(finding))}{marked}"


def _passage(citation: Citation) -> str:
    said = (
        f'<p class="soft" dir="auto">As this source puts it: {escape(shown(citation.wording))}</p>'
        if citation.wording
        else ""
    )
    return f"<blockquote>{said}<p><bdi>{escape(wording.passage(citation))}</bdi> {_cite(citation.source)}</p></blockquote>\n"


def _links(finding: Finding) -> str:
    lines = [
        f'<li>{wording.relation(one)} <a href="#f{one.number}">finding {one.number}</a></li>'
        for one in finding.relatives
    ]
    lines += [
        f'<li class="mark" dir="auto">{escape(wording.objection(text))}</li>' for text in finding.objections
    ]
    return f'<ul class="links">{"".join(lines)}</ul>\n' if lines else ""


def _contradictions(report: Report) -> Iterator[str]:
    if not report.contradictions:
        return
    yield f'<section id="contradictions">\n<h2>Contradictions</h2>\n<p>{wording.BOTH_STAY}</p>\n'
    known = report.by_number()
    for one in report.contradictions:
        yield _pair(one, known[one.number], known[one.other])
    yield "</section>\n"


def _pair(one: Contradiction, first: Finding, second: Finding) -> str:
    sides = "".join(
        f'<div>{_statement(side)}<p class="standing">{_standing(side)}</p>\n'
        f"{''.join(map(_passage, side.citations))}</div>\n"
        for side in (first, second)
    )
    return (
        f'<div class="pair" role="group" aria-label="Findings {first.number} and {second.number}">\n'
        f'<div class="sides">{sides}</div>\n<p class="soft" dir="auto">{escape(wording.because(one))}</p>\n</div>\n'
    )


def _asides(report: Report) -> Iterator[str]:
    if report.asides:
        yield f'<section id="asides">\n<h2>Linked facts</h2>\n<p class="soft">{escape(wording.ASIDE)}</p>\n'
        yield from map(_finding, report.asides)
        yield "</section>\n"


def _coverage(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    name = f": {shown(subject.title)}" if is_named else ""
    yield f'<section id="coverage-{subject.subject_id}">\n<h2 dir="auto">Coverage{escape(name)}</h2>\n'
    if not subject.nodes:
        yield f"<p>{wording.NO_MAP}</p>\n</section>\n"
        return
    if missing := subject.missing:
        entries = "".join(
            f"<li><bdi>{escape(shown(node.title))}</bdi>{_critical(node.is_goal_critical)}</li>"
            for node in missing
        )
        yield f"<h3>What is missing</h3>\n<ul>{entries}</ul>\n"
    yield "<h3>The map</h3>\n"
    yield from _map(subject)
    yield "</section>\n"


def _map(subject: SubjectPart) -> Iterator[str]:
    level = -1
    for node in subject.nodes:
        if node.level > level:
            yield '<ul class="map">' if level < 0 else "<ul>"
        else:
            yield "</li>" + "</ul></li>" * (level - node.level)
        level = node.level
        kind = "bad" if node.is_missing else "soft"
        yield (
            f"\n<li><bdi>{escape(shown(node.title))}</bdi>{_critical(node.is_goal_critical)} "
            f'<span class="{kind}">{wording.node_facts(node)}</span>'
        )
    yield "</li></ul>" * (level + 1) + "\n"
    yield from (f'<p class="soft">{line}</p>\n' for line in wording.map_notes(subject))


def _critical(is_critical: bool) -> str:
    return ' <span class="mark">goal-critical</span>' if is_critical else ""


def _work(report: Report) -> Iterator[str]:
    yield '<section id="work">\n<h2>Runs and cost</h2>\n'
    if not report.work.run_count:
        yield f"<p>{wording.NO_RUN}</p>\n</section>\n"
        return
    if failed := wording.failed(report):
        yield "<h3>What failed</h3>\n<ul>"
        yield from (
            f'<li dir="auto">{escape(shown(run.topic))}: {escape(shown(run.error))}</li>' for run in failed
        )
        yield "</ul>\n"
    models = (
        (one.model, f"{one.runs:,}", usd(one.spent_usd), f"{one.input_tokens:,}", f"{one.output_tokens:,}")
        for one in report.work.models
    )
    yield "<h3>Models</h3>\n"
    yield from _table(MODEL_COLUMNS, models)
    yield "<h3>Runs</h3>\n"
    runs = (
        (
            shown(run.topic),
            run.state,
            f"{run.facts:,}",
            f"{run.turns:,}",
            usd(run.spent_usd),
            f"{run.input_tokens + run.output_tokens:,}",
        )
        for run in report.work.runs
    )
    yield from _table(RUN_COLUMNS, runs)
    if more := wording.runs_left_out(report):
        yield f'<p class="soft">{more}</p>\n'
    yield "</section>\n"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    # The roles outlive the layout of narrow screens, where cells are no table cells any more.
    heads = "".join(
        f'<th scope="col" role="columnheader"{_figure(n)}>{name}</th>' for n, name in enumerate(columns)
    )
    yield f'<table role="table">\n<thead role="rowgroup"><tr role="row">{heads}</tr></thead>\n<tbody role="rowgroup">\n'
    for row in rows:
        cells = (
            f'<td role="cell" data-name="{name}"{_figure(n)}><bdi>{escape(cell)}</bdi></td>'
            for n, (name, cell) in enumerate(zip(columns, row, strict=True))
        )
        yield f'<tr role="row">{"".join(cells)}</tr>\n'
    yield "</tbody>\n</table>\n"


def _figure(column: int) -> str:
    return ' class="figure"' if column else ""


def _agent_words(report: Report) -> Iterator[str]:
    if report.agent_words:
        yield f'<section id="words">\n<h2>{wording.OWN_WORDS}</h2>\n'
        yield f'<p class="mark">{wording.UNCHECKED}</p>\n<div class="words">'
        yield from (f'<p dir="auto">{escape(line)}</p>' for line in wording.paragraphs(report.agent_words))
        yield "</div>\n</section>\n"


def _sources(report: Report) -> Iterator[str]:
    yield '<section id="sources">\n<h2 class="sources">Sources</h2>\n<ol class="sources">\n'
    yield from map(_source, report.sources)
    yield "</ol>\n</section>\n"


def _source(source: Source) -> str:
    target = link(source.url)
    address = escape(shown(source.url))
    if target:
        address = f'<a href="{escape(target)}" rel="noopener noreferrer nofollow">{address}</a>'
    about = "".join(f" · <bdi>{escape(part)}</bdi>" for part in wording.about(source)).removeprefix(" · ")
    backs = ", ".join(f'<a href="#f{number}">{number}</a>' for number in source.cited_by[:CITED_BY_MAX])
    more = f" and {len(source.cited_by) - CITED_BY_MAX:,} more" if len(source.cited_by) > CITED_BY_MAX else ""
    title = f"<strong><bdi>{escape(shown(source.title))}</bdi></strong><br>" if source.title else ""
    return (
        f'<li id="s{source.number}"><span class="number">{source.number}</span>{title}'
        f'<span class="address">{address}</span><br><span class="soft">{about}</span><br>'
        f'<span class="soft">For finding {backs}{more}</span></li>\n'
    )
