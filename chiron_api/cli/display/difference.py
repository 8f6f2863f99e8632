"""The differences of a subject between two times, as text."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chiron_api.text import local_time, one_line
from chiron_api.views.differences import SECTION_TITLES
from chiron_workers.knowledge.subject_diff import (
    Contradiction,
    Corroboration,
    FactDiff,
    SourceDiff,
    SubjectDiff,
)
from chiron_workers.states import ChangeKind

CHARS = 500
SOURCE_VERBS = {
    ChangeKind.GONE: "is gone",
    ChangeKind.BACK: "is back",
    ChangeKind.CHANGED: "has changed, and no longer says what facts rest on",
}


def difference_lines(difference: SubjectDiff) -> Iterator[str]:
    """A line with the period, then a section for each kind of difference."""
    since, until = (local_time(at, "%Y-%m-%d %H:%M") for at in (difference.since, difference.until))
    yield f"{difference.subject_id}, {since} to {until}"
    for name, heading in SECTION_TITLES.items():
        lines = map(ENTRY_LINES.get(name, _fact), getattr(difference, name))
        yield from _section(heading, difference.counts[name], lines)
    total = sum(difference.counts[f"sources_{kind}"] for kind in ChangeKind)
    yield from _section("Sources", total, map(_source, difference.sources))
    if difference.is_empty:
        yield "\nNothing is different."
    if candidates := difference.counts["candidates"]:
        yield f"\n{candidates:,} new candidate{'' if candidates == 1 else 's'}, out of sight until better sources confirm it."


def _section(heading: str, total: int, entries: Iterable[list[str]]) -> Iterator[str]:
    paragraphs = list(entries)
    if not paragraphs:
        return
    yield f"\n{heading} ({total:,})"
    for entry in paragraphs:
        yield from entry
    if total > len(paragraphs):
        yield f"  and {total - len(paragraphs):,} more"


def _fact(entry: FactDiff) -> list[str]:
    before = "" if entry.confidence_before is None else f"{entry.confidence_before:.2f} -> "
    status = (
        "" if entry.status_before in (None, entry.status) else f" ({entry.status_before} -> {entry.status})"
    )
    lines = [f"  {before}{entry.confidence:.2f}{status}  {one_line(entry.content, chars_max=CHARS)}"]
    lines.append(f"        {entry.id}  {one_line(entry.source_url)}")
    lines += [f"        superseded by {entry.superseded_by}"] if entry.superseded_by else []
    return lines + ([f"        {one_line(entry.reason)}"] if entry.reason else [])


def _corroborated(entry: Corroboration) -> list[str]:
    sources = [f"        {one_line(url)}" for url in entry.sources]
    return [f"  {entry.confidence:.2f}  {one_line(entry.content, chars_max=CHARS)}", *sources]


def _contradicted(entry: Contradiction) -> list[str]:
    return [
        f"  {one_line(entry.content, chars_max=CHARS)}",
        f"        {entry.id}  {one_line(entry.source_url)}",
        f"  against: {one_line(entry.other_content, chars_max=CHARS)}",
        f"        {entry.other_id}  {one_line(entry.other_source_url)}",
        f"        {one_line(entry.reason)}",
    ]


ENTRY_LINES: dict[str, Callable[[Any], list[str]]] = {
    "corroborated": _corroborated,
    "contradicted": _contradicted,
}


def _source(entry: SourceDiff) -> list[str]:
    facts = f"{len(entry.fact_ids):,} fact{' rests' if len(entry.fact_ids) == 1 else 's rest'} on it"
    if entry.kind == ChangeKind.BACK and (lost_facts := len(entry.lost_fact_ids)):
        facts += f", and the words that {lost_facts:,} of them rest{'s' * (lost_facts == 1)} on are gone"
    lines = [
        f"  {one_line(entry.url)} {SOURCE_VERBS[ChangeKind(entry.kind)]} ({entry.at.astimezone():%Y-%m-%d}); {facts}"
    ]
    return lines + ([f"        {one_line(entry.reason)}"] if entry.reason else [])
