"""The sources of a report in the JSON of CSL, which Zotero, pandoc and citeproc read."""

from collections.abc import Iterator
from datetime import datetime

from chiron_api.reports.bibliography.authors import Author
from chiron_api.reports.bibliography.entries import Entry, entries
from chiron_api.reports.report import Report
from chiron_api.reports.write import Format
from chiron_api.text import as_json


def render(report: Report) -> Iterator[str]:
    """The document, piece by piece: a line for each source."""
    yield "["
    for n, entry in enumerate(entries(report)):
        yield (",\n" if n else "\n") + as_json(_item(entry))
    yield "\n]\n"


def _item(entry: Entry) -> dict[str, object]:
    item = {
        "id": entry.key,
        "type": entry.kind,
        "title": entry.title,
        "author": [_name(author) for author in entry.authors],
        "issued": _date(entry.published_at),
        "accessed": _date(entry.accessed_at),
        "URL": entry.url,
        "DOI": entry.doi,
        "container-title": entry.site,
        "keyword": ", ".join(keyword.replace(",", " ") for keyword in entry.keywords),
        "note": entry.note,
        "custom": {
            name: value for name, value in (("licence", entry.licence), ("path", entry.path)) if value
        },
    }
    return {name: value for name, value in item.items() if value}


def _name(author: Author) -> dict[str, str]:
    if not author.is_person:
        return {"literal": author.family}
    parts = {
        "family": author.family,
        "given": author.given,
        "non-dropping-particle": author.particle,
        "suffix": author.suffix,
    }
    return {name: value for name, value in parts.items() if value}


def _date(at: datetime | None) -> dict[str, object]:
    return {"date-parts": [[at.year, at.month, at.day]]} if at else {}


FORMAT = Format("csl-json", order=6, media_type="application/vnd.citationstyles.csl+json", render=render)
