"""When a page says that it was published. When it was made or changed is another question, and no answer to this one."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from chiron_workers.documents.document import one_line, parse_date
from chiron_workers.documents.json_ld import things_of

METAS_MAX = 3_000
WORDS_MAX = 100
NAMES = (
    "article:published_time",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "prism.publicationdate",
    "dcterms.issued",
    "dc.date.issued",
    "bepress_citation_date",
    "article:published",
    "article.published",
    "parsely-pub-date",
    "sailthru.date",
    "datepublished",
    "publication_date",
    "publish_date",
    "publish-date",
    "published_time",
    "pubdate",
    "og:pubdate",
    "dc.date",
    "dcterms.date",
    "date",
)
DATE_ELEMENTS = (
    "//*[@itemprop='datePublished' and not(ancestor::*[contains(@class, 'comment')])] | //time[@pubdate]"
)
ELEMENTS_MAX = 20
DAY = re.compile(r"(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})|(\d{4})(\d\d)(\d\d)(?!\d)")
# A month or a year alone: the day would be a guess.
PARTIAL = re.compile(r"\d{4}(?:[/.-]\d{1,2})?|[^\W\d]+\.? \d{4}")
PARTIAL_CONTENT = re.compile(r"content\s*=\s*[\"']\d{4}(?:[/.-]\d{1,2})?[\"']")
# Signs that a date of the page may be that of a change, in the languages whose dates trafilatura reads.
CHANGES = (
    *(
        "modified",
        "updated",
        "lastmod",
        "last-mod",
        "revised",
        "datecreated",
        "dcterms.created",
        "aktualisiert",
        "geändert",
    ),
    *(
        "stand:",
        "mis à jour",
        "mise à jour",
        "actualizad",
        "aggiornat",
        "atualizad",
        "bijgewerkt",
        "gewijzigd",
    ),
    *("zaktualizowan", "güncellen", "обновлен", "更新"),
)


def stated_date(tree: Any) -> datetime | None:
    """The day on which a page says it was published; None where it says none, or no whole one."""
    return next((moment for words in _statements(tree) if (moment := _parse(words))), None)


def page_date(words: object, source: str) -> datetime | None:
    """A date that trafilatura has read from a page or its address; None if it may be that of a change, or a guess.

    Args:
        source: The page as it came.
    """
    if (moment := parse_date(words)) is None:
        return None
    page = source.lower()
    return None if any(sign in page for sign in CHANGES) or PARTIAL_CONTENT.search(page) else moment


def _statements(tree: Any) -> Iterator[str]:
    for thing in things_of(tree):
        if isinstance(date := thing.get("datePublished"), str) and "Image" not in str(thing.get("@type")):
            yield date
    metas: dict[str, list[str]] = {}
    for element in islice(tree.iter("meta"), METAS_MAX):
        name = (
            (element.get("name") or element.get("property") or element.get("itemprop") or "").strip().lower()
        )
        if name in NAMES:
            metas.setdefault(name, []).append(element.get("content") or "")
    for name in NAMES:
        yield from metas.get(name, ())
    for element in tree.xpath(DATE_ELEMENTS)[:ELEMENTS_MAX]:
        yield element.get("datetime") or element.get("content") or element.text_content()


def _parse(words: str) -> datetime | None:
    line = one_line(words[:WORDS_MAX])
    if PARTIAL.fullmatch(line):
        return None
    match = DAY.match(line)
    if match is None:
        return parse_date(line)
    year, month, day = (int(part) for part in match.groups() if part)
    try:
        return datetime(year, month, day, tzinfo=UTC)  # the day as it is stated, wherever that is
    except ValueError:
        return None
