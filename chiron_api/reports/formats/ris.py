"""The sources of a report in RIS, which EndNote, Zotero and Mendeley read: a tag and a value on each line."""

from collections.abc import Iterator

from chiron_api.reports.bibliography.entries import Entry, entries
from chiron_api.reports.bibliography.kinds import WorkKind
from chiron_api.reports.report import Report
from chiron_api.reports.write import Format

LINE_END = "\r\n"
TYPES = {
    WorkKind.ARTICLE: "JOUR",
    WorkKind.PREPRINT: "UNPB",
    WorkKind.REPORT: "RPRT",
    WorkKind.DATASET: "DATA",
    WorkKind.BOOK: "BOOK",
    WorkKind.PAGE: "ELEC",
    WorkKind.DOCUMENT: "GEN",
}


def render(report: Report) -> Iterator[str]:
    """The document, entry by entry; each begins with TY and ends with ER."""
    for entry in entries(report):
        lines = [f"{tag}  - {value}{LINE_END}" for tag, value in _fields(entry) if value]
        yield "".join(lines) + f"ER  - {LINE_END}{LINE_END}"


def _fields(entry: Entry) -> Iterator[tuple[str, str]]:
    published_at, accessed_at = entry.published_at, entry.accessed_at
    yield "TY", TYPES[entry.kind]
    yield "ID", entry.key
    for author in entry.authors:
        # A comma would part a body's name in two.
        yield "AU", author.inverted if author.is_person else author.family.replace(",", " ")
    yield "TI", entry.title
    yield "T2", entry.site
    yield "PY", f"{published_at:%Y}" if published_at else ""
    yield "DA", f"{published_at:%Y/%m/%d}/" if published_at else ""
    yield "Y2", f"{accessed_at:%Y/%m/%d}/" if accessed_at else ""
    yield "DO", entry.doi
    yield "UR", entry.url
    yield "AV", entry.path
    for keyword in entry.keywords:
        yield "KW", keyword
    yield "N1", entry.note


FORMAT = Format("ris", order=8, media_type="application/x-research-info-systems", render=render)
