"""Dates in English, Chinese, Japanese and Korean, as a span of days: a year, a month, a day, a decade, a century."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chiron_workers.evidence.figures.cjk_dates import read_cjk_dates
from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.vocabulary import words

_LONG = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
_SHORT = {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_MONTHS = _SHORT | _LONG
_MONTH = rf"(?:(?:{'|'.join(name.capitalize() for name in _LONG)})\b|(?:{'|'.join(name.capitalize() for name in _SHORT)})\b\.?)"
# Months of the year; 14 is the second of the next year.
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (1, 14)}
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"\d{3,4}"
_ERA = r"(?: ?(?P<era>BCE?|B\.C\.(?:E\.)?|AD|CE)\b)"
_CENTURIES = words("ordinals")
NEIGHBOUR_CHARS = 40
_PATTERNS = [
    re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\d])"),
    re.compile(rf"(?<!\w)(?P<day>{_DAY})(?: of)? (?P<name>{_MONTH}),? (?P<year>\d{{4}})(?!\w)"),
    re.compile(rf"(?<!\w)(?P<name>{_MONTH}) (?P<day>{_DAY}),? (?P<year>\d{{4}})(?!\w)"),
    re.compile(rf"(?<!\w)(?P<name>{_MONTH})(?: of|,)? (?P<year>\d{{4}})(?!\w)"),
    re.compile(rf"(?<!\w)(?P<day>{_DAY})(?: of)? (?P<name>{_MONTH})(?!\w)"),
    re.compile(rf"(?<!\w)(?P<name>{_MONTH}) (?P<day>{_DAY})(?![\w,]\d|\w)"),
    re.compile(rf"(?i:(?<!\w)(?P<season>{'|'.join(_SEASONS)})(?: of)? (?P<year>\d{{4}}))(?!\w)"),
    re.compile(
        rf"(?i:(?<!\w)(?:(?P<nth>{'|'.join(_QUARTERS)}) quarter|Q(?P<quarter>[1-4]))(?: of)? (?P<year>\d{{4}}))(?!\w)"
    ),
    re.compile(rf"(?<!\w)(?:AD |CE )?(?P<century>\d{{1,2}})(?:st|nd|rd|th)[ -]century\b{_ERA}?"),
    re.compile(rf"(?i:(?<!\w)(?P<worded>{'|'.join(_CENTURIES)})[ -]century)\b{_ERA}?"),
    re.compile(r"(?<!\w)(?P<decade>\d{3}0)['’]?s\b"),
    re.compile(rf"(?<![\w.,])(?P<year>\d{{1,4}}){_ERA}"),
    re.compile(r"(?<!\w)AD (?P<year>\d{1,4})(?!\w)"),
    re.compile(r"(?<![\w.,/])(?P<year>1\d{3}|20\d{2})(?P<to>[-/])(?P<until>\d{2}|\d{4})(?![\w-])"),
    re.compile(r"(?<![\w.,$€£¥/+-])(?P<year>1\d{3}|20\d{2})(?!\w| ?%|[.,/]\d|-\w)"),
    re.compile(rf"(?<![\w.])(?P<name>{_MONTH})(?!\w)"),
]
# What stands before a year rather than before 1,500 of something.
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|by|until|till|from|during|before|after|early|late|mid|circa|ca\.|c\.|year|spring|summer|autumn|fall|winter|"
    r"of|the|and|to|between|on|around|for|season|edition|election|act)[ (-]*$|[(,;]\s*$|[-/]$",
    re.I,
)
_BEFORE_MONTH = re.compile(
    r"\b(?:in|since|by|until|from|during|before|after|early|late|mid|of|and|to|every|each)[ -]$", re.I
)
_ABOUT = re.compile(
    r"\b(?:about|approximately|roughly|nearly|almost|over|than|least|most|some|has|have|had|with)\s$", re.I
)
_ABOUT_WHEN = re.compile(r"\b(?:in|since|by|from|of|until) (?:about|approximately|roughly|some) $", re.I)
_BEFORE_COUNT = re.compile(r"\b(?:of|to|and|for|with)\s$", re.I)
_MANY_AFTER = re.compile(r"\s(?:[a-z]+ )?(?:[a-z]+s|people|men|women|children|feet)\b")
_BEFORE_IDENTIFIER = re.compile(
    rf"(?:(?<!\w)(?:{'|'.join(map(re.escape, words('no years')))})[ -]|(?<!\w)n[or]\.|[№#§] ?)$", re.I
)  # RFC 2045
_NOUN_AFTER = re.compile(
    r"\s(?!(?:and|or|by|in|at|on|to|the|a|an|as|for|when|while|with|after|before|until|of|from|was|is|were|has|had|it|but|under|following|because|that|which|who|where|during|through|into)\b)[a-z]{2,}"
)


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date at `text[start:end]`: all days from `first` to `last`, as (year, month, day); year 0 where none is named."""

    first: tuple[int, int, int]
    last: tuple[int, int, int]
    start: int
    end: int
    written: str
    dimension: ClassVar[str] = "date"

    @property
    def has_year(self) -> bool:
        """Whether it says of which year it is."""
        return self.first[0] != 0

    @property
    def span(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """What two dates that say the same have in common."""
        return self.first, self.last

    def within(self, rival: "DateSpan") -> bool:
        """Whether all of it lies in another, and so says the same more precisely or equally so."""
        return rival.first <= self.first and self.last <= rival.last

    def agreement(self, rival: "DateSpan") -> Agreement:
        """How it stands to another one; a day without a year can be of any."""
        if self.span == rival.span:
            return Agreement.EQUAL
        is_any_year = self.has_year != rival.has_year
        if is_any_year and (self.last[0] != self.first[0] or rival.last[0] != rival.first[0]):
            return Agreement.NEAR
        year = 1 if is_any_year else 0
        touches = self.first[year:] <= rival.last[year:] and rival.first[year:] <= self.last[year:]
        return Agreement.NEAR if touches else Agreement.DIFFERENT


def read_dates(text: str) -> Iterator[DateSpan]:
    """Every date of a text, in order. A bare number of four digits is a year where its place says so."""
    dates: list[DateSpan] = []
    is_read = bytearray(len(text))
    for first, last, start, end in read_cjk_dates(text):
        if not any(is_read[start:end]):
            dates.append(DateSpan(first, last, start, end, text[start:end]))
            is_read[start:end] = b"\1" * (end - start)
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(is_read[match.start() : match.end()]):
                continue
            before = text[max(0, match.start() - NEIGHBOUR_CHARS) : match.start()]
            is_bare = set(match.groupdict()) == {"year"} and not match[0].startswith("AD")
            if is_bare and not _is_year(before, text[match.end() :]):
                continue
            if match[0] in {"May", "March", "Mar", "Dec", "Sun"} and not _BEFORE_MONTH.search(before):
                continue
            if _is_number_of_a_law(match):
                continue
            dates += _read(match)
            is_read[match.start() : match.end()] = b"\1" * len(match[0])
    return iter(sorted(dates, key=lambda moment: moment.start))


def _is_year(before: str, after: str) -> bool:
    if _BEFORE_IDENTIFIER.search(before):
        return False
    if _ABOUT.search(before) and not _ABOUT_WHEN.search(before):
        return False
    # "of 1500 people" counts; "the 2010 election", "of 1958 strengthened" and "in 2010 researchers found" do not.
    counts = _BEFORE_COUNT.search(before) and _MANY_AFTER.match(after)
    return bool(_BEFORE_YEAR.search(before) and not counts) or _NOUN_AFTER.match(after) is None


def _is_number_of_a_law(match: re.Match[str]) -> bool:
    """Whether what looks like two years is none: Regulation (EU) 2018/1725."""
    until = match.groupdict().get("until") or ""
    return match.groupdict().get("to") == "/" and len(until) == 4 and until < match["year"]


def _read(match: re.Match[str]) -> list[DateSpan]:
    parts = {name: value for name, value in match.groupdict().items() if value is not None}
    before_christ = parts.get("era", "").startswith("B")
    if "century" in parts or "worded" in parts:
        nth = int(parts["century"]) if "century" in parts else _CENTURIES.index(parts["worded"].lower()) + 1
        first, last = 100 * nth - 99, 100 * nth
        return [_years(match, -last, -first)] if before_christ else [_years(match, first - 1, last)]
    if "decade" in parts:
        decade = int(parts["decade"])
        return [_years(match, decade, decade + (99 if decade % 100 == 0 else 9))]
    if "until" in parts:
        first = int(parts["year"])
        until = int(parts["until"]) if len(parts["until"]) == 4 else first - first % 100 + int(parts["until"])
        if parts["to"] == "/":
            return [_years(match, first, until)]
        return [_years(match, first, first), _years(match, until, until)]
    year = int(parts.get("year", 0)) * (-1 if before_christ else 1)
    if "season" in parts:
        return [_months(match, year, *_SEASONS[parts["season"].lower()])]
    if "nth" in parts or "quarter" in parts:
        nth = _QUARTERS[parts["nth"].lower()] if "nth" in parts else int(parts["quarter"])
        return [_months(match, year, 3 * nth - 2, 3 * nth)]
    if "name" not in parts and "month" not in parts:
        return [_years(match, year, year)]
    month = int(parts["month"]) if "month" in parts else _MONTHS[parts["name"].lower().rstrip(".")]
    if "day" not in parts:
        return [_months(match, year, month, month)]
    day = int(re.sub(r"\D", "", parts["day"]))
    return [DateSpan((year, month, day), (year, month, day), *match.span(), match[0])]


def _years(match: re.Match[str], first: int, last: int) -> DateSpan:
    return DateSpan((first, 1, 1), (last, 12, 31), *match.span(), match[0])


def _months(match: re.Match[str], year: int, first: int, last: int) -> DateSpan:
    end = (year, last, 31) if last <= 12 else (year + 1, last - 12, 31)
    return DateSpan((year, first, 1), end, *match.span(), match[0])
