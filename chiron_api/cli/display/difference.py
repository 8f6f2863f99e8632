"""What has become of a subject between two moments, as a person reads it."""

from collections.abc import Iterator, Mapping

from chiron_api.text import one_line
from chiron_workers.knowledge.subject_diff import (
    Contradiction,
    Corroboration,
    FactDiff,
    SourceDiff,
    SubjectDiff,
)
from chiron_workers.states import ChangeKind

CHARS = 500
HEADINGS = {
    "new": "New",
    "lifted": "Lifted: confirmed well enough by now",
    "restored": "Restored after they were withdrawn",
    "changed": "Changed",
    "dropped": "Dropped: no longer confirmed well enough",
    "withdrawn": "Withdrawn",
}
SOURCES = {
    ChangeKind.GONE: "is gone",
    ChangeKind.BACK: "is back",
    ChangeKind.CHANGED: "has changed, and no longer says what facts rest on",
}
# What a count is called in one line.
COUNTED = {
    "new": "new",
    "lifted": "lifted",
    "restored": "restored",
    "changed": "changed",
    "dropped": "dropped",
    "withdrawn": "withdrawn",
    "corroborated": "corroborated",
    "contradicted": "contradicted",
    "sources_gone": "sources gone",
    "sources_back": "sources back",
    "sources_back_changed": "of them changed",
    "sources_changed": "sources changed",
}


def lines(found: SubjectDiff) -> Iterator[str]:
    """A paragraph for each kind of difference, after a line that says between which moments."""
    yield f"{found.subject_id}, {found.since.astimezone():%Y-%m-%d %H:%M} to {found.until.astimezone():%Y-%m-%d %H:%M}"
    for name, heading in HEADINGS.items():
        entries: list[FactDiff] = getattr(found, name)
        yield from _headed(heading, found.counts[name], [_fact(entry) for entry in entries])
    yield from _headed("Corroborated", found.counts["corroborated"], map(_corroborated, found.corroborated))
    yield from _headed("Contradicted", found.counts["contradicted"], map(_contradicted, found.contradicted))
    total = sum(found.counts[f"sources_{kind}"] for kind in ChangeKind)
    yield from _headed("Sources", total, map(_source, found.sources))
    if found.is_empty:
        yield "\nNothing is different."
    if candidates := found.counts["candidates"]:
        yield f"\n{candidates:,} new candidate{'' if candidates == 1 else 's'}, out of sight until better sources confirm it."


def in_short(counts: Mapping[str, int]) -> str:
    """The counts in one line: `3 new, 1 withdrawn`, or that nothing is different."""
    told = [f"{counts[name]:,} {words}" for name, words in COUNTED.items() if counts.get(name)]
    return ", ".join(told) or "nothing is different"


def _headed(
    heading: str, total: int, entries: "Iterator[list[str]] | map[list[str]] | list[list[str]]"
) -> Iterator[str]:
    shown = list(entries)
    if not shown:
        return
    yield f"\n{heading} ({total:,})"
    for entry in shown:
        yield from entry
    if total > len(shown):
        yield f"  and {total - len(shown):,} more"


def _fact(entry: FactDiff) -> list[str]:
    was = "" if entry.confidence_before is None else f"{entry.confidence_before:.2f} -> "
    status = (
        "" if entry.status_before in (None, entry.status) else f" ({entry.status_before} -> {entry.status})"
    )
    told = [f"  {was}{entry.confidence:.2f}{status}  {one_line(entry.content, chars_max=CHARS)}"]
    told.append(f"        {entry.id}  {one_line(entry.source_url)}")
    return told + ([f"        {one_line(entry.reason)}"] if entry.reason else [])


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


def _source(entry: SourceDiff) -> list[str]:
    facts = f"{len(entry.fact_ids):,} fact{' rests' if len(entry.fact_ids) == 1 else 's rest'} on it"
    if entry.kind == ChangeKind.BACK and (lost := len(entry.lost_fact_ids)):
        facts += f", and the words that {lost:,} of them rest{'s' * (lost == 1)} on are gone"
    told = [
        f"  {one_line(entry.url)} {SOURCES[ChangeKind(entry.kind)]} ({entry.at.astimezone():%Y-%m-%d}); {facts}"
    ]
    return told + ([f"        {one_line(entry.reason)}"] if entry.reason else [])
