import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, unquote

from chiron_api.reports.bibliography.authors import Author, author_of
from chiron_api.reports.bibliography.kinds import WorkKind, kind_of
from chiron_api.reports.links import link
from chiron_api.reports.phrasing import heading, one_line
from chiron_api.reports.report import Report, Source
from chiron_workers.documents.omissions import describe
from chiron_workers.public_addresses import public_address

KEY_CHARS_MAX = 40
HASH_CHARS = 12  # of a key: two of a million addresses are alike once in 500 such reports
NUMBERS_MAX = 100
PUBLISHED_MIN = 1_000  # years before are no dates of a source but mistakes


@dataclass(frozen=True, slots=True)
class Entry:
    """A source as libraries record it. Texts are of one line, empty where nothing is known.

    `key` depends on the address alone, so that it is the same in each report and keeps to ASCII letters, digits and hyphens.
    """

    key: str
    kind: WorkKind
    title: str
    authors: tuple[Author, ...]
    published_at: datetime | None
    accessed_at: datetime | None
    url: str
    doi: str
    path: str  # of a file or a document of the corpus
    site: str
    licence: str
    keywords: tuple[str, ...]
    note: str


def entries(report: Report) -> Iterator[Entry]:
    """The sources of a report, each address once, in the order in which they are first cited."""
    sources_by_address: dict[str, list[Source]] = {}
    for source in report.sources:
        sources_by_address.setdefault(source.url, []).append(source)
    subjects, marks = _subjects_by_finding(report), _marks(report)
    for sources in sources_by_address.values():
        yield _entry(report, sources, subjects, marks)


def _entry(
    report: Report, sources: Sequence[Source], subjects: dict[int, str], marks: dict[int, list[str]]
) -> Entry:
    latest = max(
        sources, key=lambda source: (source.fetched_at is not None, source.fetched_at, source.number)
    )
    numbers = sorted({number for source in sources for number in source.cited_by})
    place = public_address(latest.url)
    address = link(place) if place.startswith(("http:", "https:")) else None
    source_marks = dict.fromkeys(mark for source in sources for mark in marks.get(source.number, ()))
    path = _path(place)
    notes = [
        *([f"Document: {path}"] * bool(path)),
        _cited_by(report, numbers),
        *source_marks,
        *([f"Licence: {one_line(latest.licence)}"] * bool(latest.licence)),
        *([f"Left out of its text: {one_line(describe(latest.left_out))}"] * bool(latest.left_out)),
    ]
    return Entry(
        key=_key(latest.url),
        kind=kind_of(place),
        title=one_line(latest.title) or one_line(place) or "Untitled",
        authors=tuple(dict.fromkeys(author_of(line) for name in latest.authors if (line := one_line(name)))),
        published_at=latest.published_at
        if latest.published_at and latest.published_at.year >= PUBLISHED_MIN
        else None,
        accessed_at=latest.fetched_at,
        url=address or "",
        doi=latest.doi,
        path=path,
        site=_host(address or ""),
        licence=one_line(latest.licence),
        keywords=tuple(dict.fromkeys(subjects[number] for number in numbers if subjects.get(number))),
        note="; ".join(notes) + ".",
    )


def _key(url: str) -> str:
    from slugify import slugify  # with its tables of letters, for bibliographies alone

    digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:HASH_CHARS]
    name = (
        slugify(_host(url) or public_address(url)[: 4 * KEY_CHARS_MAX], max_length=KEY_CHARS_MAX) or "source"
    )
    return f"{name}-{digest}"


def _path(place: str) -> str:
    """Where a document lies that is not on the web: the file, or the place in the corpus of a subject."""
    if place.startswith("corpus://"):
        return one_line(unquote(place))
    if not place.startswith("file:///"):
        return ""
    path, _, query = place.removeprefix("file://").partition("?")
    part = ", ".join(
        f"{name} {value}" for name, value in parse_qsl(query)
    )  # the pages or rows that were read
    return one_line(f"{unquote(path)} ({part})" if part else unquote(path))


def _host(url: str) -> str:
    match = re.match(r"https?://(?:[^/?#]*@)?(?:www\.)?([^/?#:\[\]]+)", url)
    return match[1].lower() if match else ""


def _cited_by(report: Report, numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - NUMBERS_MAX:,} more" if len(numbers) > NUMBERS_MAX else ""
    shown = ", ".join(map(str, numbers[:NUMBERS_MAX]))
    findings = f"finding{'s' * (len(numbers) != 1)} {shown}{more}"
    return f"Cited by {findings} of the report “{heading(report)}” ({report.made_at:%Y-%m-%d})"


def _subjects_by_finding(report: Report) -> dict[int, str]:
    titles = {subject.subject_id: one_line(subject.title) for subject in report.subjects}
    return {
        number: titles.get(finding.subject_id, finding.subject_id)
        for number, finding in report.by_number().items()
    }


def _marks(report: Report) -> dict[int, list[str]]:
    """What became of sources since they were read, by their numbers."""
    marks: dict[int, list[str]] = {}
    for finding in report.by_number().values():
        for citation in finding.citations:
            if citation.source_mark:
                marks.setdefault(citation.source, []).append(one_line(citation.source_mark))
    return marks
