"""When a page says that it was published. When it was made or changed is another question, and no answer to this one."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from chiron_workers.documents.document import one_line, parse_date
from chiron_workers.documents.json_ld import is_work, things_of

METAS_MAX = 3_000
WORDS_MAX = 100
BEFORE_CHARS = 100  # of a date, where words say whose it is
MONTHS = 12
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
    " | //time[contains(concat(' ', @class, ' '), ' published ') and not(ancestor::*[contains(@class, 'comment')])]"
)
ELEMENTS_MAX = 20
DAY = re.compile(r"(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})|(\d{4})(\d\d)(\d\d)(?!\d)")
NUMBERS = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})\b")
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
# Signs beside a date alone: these words stand in many texts.
OTHER_ACTS = (
    "created",
    "last edit",
    "last change",
    "last review",
    "reviewed",
    "accessed",
    "retrieved",
    "copyright",
)
# And those of objects beside the work, in its JSON-LD.
OTHER_OBJECTS = ('videoobject"', 'audioobject"', 'imageobject"', 'comment"', 'review"', 'event"')


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
    if PARTIAL_CONTENT.search(page) or _is_guess(page, moment):
        return None
    surroundings = _surroundings(page, moment)
    if surroundings:
        is_of_change = all(_has_sign(text, (*CHANGES, *OTHER_ACTS, *OTHER_OBJECTS)) for text in surroundings)
    else:
        is_of_change = _has_sign(page, CHANGES)
    return None if is_of_change else moment


def _is_guess(page: str, moment: datetime) -> bool:
    """Whether a page writes the date so that day and month may stand the other way round: 03/04/2019."""
    day, month = moment.day, moment.month
    if day > MONTHS or day == month:
        return False
    return any(
        re.search(rf"\b0?{first}[/-]0?{second}[/-]{moment:%Y}\b", page)
        for first, second in ((day, month), (month, day))
    )


def _surroundings(page: str, moment: datetime) -> list[str]:
    """What stands before a date, and behind it in its tag, where the page writes it as numbers: some of the places."""
    pattern = re.compile(f"{moment:%Y}-?{moment:%m}-?{moment:%d}")
    places = [match.span() for match in islice(pattern.finditer(page), ELEMENTS_MAX)]
    return [
        page[max(0, start - BEFORE_CHARS) : start] + page[end : end + BEFORE_CHARS].partition(">")[0]
        for start, end in places
    ]


def _has_sign(text: str, signs: Iterable[str]) -> bool:
    return any(sign in text for sign in signs)


def _statements(tree: Any) -> Iterator[str]:
    for thing in filter(is_work, things_of(tree)):
        if isinstance(date := thing.get("datePublished"), str):
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
    if numbers := NUMBERS.match(line):
        return _parse_numbers(numbers)
    match = DAY.match(line)
    if match is None:
        return parse_date(line)
    return _day(*(int(part) for part in match.groups() if part))


def _parse_numbers(match: re.Match[str]) -> datetime | None:
    """A day whose year comes last. With dots the day comes first; with slashes the order is ambiguous."""
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or first > MONTHS or first == second:
        return _day(year, second, first)
    return _day(year, first, second) if second > MONTHS else None


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)  # the stated day, in any time zone
    except ValueError:
        return None
