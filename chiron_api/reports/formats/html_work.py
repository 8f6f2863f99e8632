"""What a subject lacks and what the research took, as parts of an HTML page."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import escape

from chiron_api.reports import making, phrasing
from chiron_api.reports.formats.html_table import table
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, SubjectPart

RUN_COLUMNS = ("Topic", "State", "Facts", "Turns", "Cost", "Tokens")


def coverage(subject: SubjectPart, *, is_named: bool) -> Iterator[str]:
    """What is missing of a subject, then its coverage map."""
    name = f": {one_line(subject.title)}" if is_named else ""
    yield f'<section id="coverage-{subject.subject_id}">\n<h2 dir="auto">Coverage{escape(name)}</h2>\n'
    if not subject.nodes:
        yield f"<p>{phrasing.NO_MAP}</p>\n</section>\n"
        return
    if missing_nodes := subject.missing:
        entries = "".join(
            f"<li><bdi>{escape(one_line(node.title))}</bdi>{_critical(node.is_goal_critical)}</li>"
            for node in missing_nodes
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
            f"\n<li><bdi>{escape(one_line(node.title))}</bdi>{_critical(node.is_goal_critical)} "
            f'<span class="{kind}">{phrasing.node_facts(node)}</span>'
        )
    yield "</li></ul>" * (level + 1) + "\n"
    yield from (f'<p class="soft">{line}</p>\n' for line in phrasing.map_notes(subject))


def _critical(is_critical: bool) -> str:
    return ' <span class="mark">goal-critical</span>' if is_critical else ""


def made(report: Report, figures: Iterable[tuple[str, str]] | None = None) -> Iterator[str]:
    """How the report was made: whose words are whose, the report in numbers, failures, models, runs.

    Args:
        figures: Names and values of the numbers. None: `phrasing.summary`.
    """
    yield f'<section id="work">\n<h2>{making.HEADING}</h2>\n'
    yield from (f'<p class="soft" dir="auto">{escape(note)}</p>\n' for note in making.notes(report))
    figures = phrasing.summary(report) if figures is None else figures
    pairs = (f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in figures)
    yield f'<dl class="glance">{"".join(pairs)}</dl>\n'
    if not report.work.run_count:
        yield f"<p>{phrasing.NO_RUN}</p>\n</section>\n"
        return
    if failed_runs := phrasing.failed_runs(report):
        yield "<h3>What failed</h3>\n<ul>"
        yield from (
            f'<li dir="auto">{escape(phrasing.numbered_topic(run, report))}: {escape(one_line(run.error))}</li>'
            for run in failed_runs
        )
        yield "</ul>\n"
    yield "<h3>Models</h3>\n"
    yield from _table(phrasing.MODEL_COLUMNS, map(phrasing.model_cells, report.work.models))
    yield "<h3>Runs</h3>\n"
    yield from _table(RUN_COLUMNS, map(partial(phrasing.run_cells, report), report.work.runs))
    if omitted_note := phrasing.runs_left_out(report):
        yield f'<p class="soft">{omitted_note}</p>\n'
    yield "</section>\n"


def _table(columns: tuple[str, ...], rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    cells = ([f"<bdi>{escape(row[name])}</bdi>" for name in columns] for row in rows)
    yield from table(columns, cells, figures=range(1, len(columns)), kind="runs")
