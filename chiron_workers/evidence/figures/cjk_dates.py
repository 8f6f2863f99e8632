"""Dates as Chinese, Japanese and Korean write them: 2021年5月3日, 二〇二四年, 令和3年, 2021년 5월, 19世紀, 1990年代."""

import re
from collections.abc import Iterator

from chiron_workers.evidence.figures.cjk_numerals import value_of

_NUMBER = r"(?:\d{1,4}|[〇零一二三四五六七八九十廿百千]{1,6})"
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_DAY = (
    r"(?P<month>\d{1,2}|[一二三四五六七八九十]{1,2}) ?[月월]"
    r"(?: ?(?P<day>\d{1,2}|[一二三四五六七八九十廿]{1,3}) ?[日일号])?"
)
# 2000年間 are 2,000 years, and 2000年前 may be 2,000 years ago.
_NO_SPAN = r"(?!間|间|来|來|以上|以内|前(?!半|期)|余|多|간|이상|の歴史|の間|[的之]久)"
_CHRIST = r"(?P<before_christ>(?:公元|西元|紀元)前|기원전 ?)?"
_DATE = re.compile(
    rf"{_CHRIST}(?P<era>{'|'.join(_ERAS)})?(?<!\d)(?P<year>{_NUMBER}|元) ?[年년]{_NO_SPAN}(?: ?{_DAY})?"
)
_MONTH_DAY = re.compile(r"(?<!\d)(?P<month>\d{1,2}) ?[月월] ?(?P<day>\d{1,2}) ?[日일号]")
_CENTURY = re.compile(
    rf"{_CHRIST}(?<!\d)(?P<century>\d{{1,2}}|[一二三四五六七八九十]{{1,3}}) ?(?:世紀|世纪|세기)"
)
_DECADE = re.compile(r"(?<!\d)(?P<decade>\d{3}0) ?(?:年代|년대)")
_YEAR_CHARS_MIN = 4  # of a year without an era; fewer are years that something takes

Day = tuple[int, int, int]


def read_cjk_dates(text: str) -> Iterator[tuple[Day, Day, int, int]]:
    """The first and the last day of each date, and where it stands."""
    if text.isascii():
        return
    for match in _DECADE.finditer(text):
        first = int(match["decade"])
        yield (first, 1, 1), (first + (99 if first % 100 == 0 else 9), 12, 31), *match.span()
    for match in _CENTURY.finditer(text):
        last = 100 * int(value_of(match["century"]))
        years = (-last, -last + 99) if match["before_christ"] else (last - 100, last)
        yield (years[0], 1, 1), (years[1], 12, 31), *match.span()
    for match in _DATE.finditer(text):
        year = _year(match)
        if year is not None:
            yield *_days(match, year), *match.span()
    for match in _MONTH_DAY.finditer(text):
        yield *_days(match, 0), *match.span()


def _year(match: re.Match[str]) -> int | None:
    if match["year"] == "元":
        return _ERAS[match["era"]] + 1 if match["era"] else None
    year = int(value_of(match["year"]))
    if match["era"]:
        return _ERAS[match["era"]] + year
    if match["before_christ"]:
        return -year
    is_spelled_out = len(match["year"]) >= _YEAR_CHARS_MIN and re.search("[十百千]", match["year"]) is None
    return year if is_spelled_out else None


def _days(match: re.Match[str], year: int) -> tuple[Day, Day]:
    month = int(value_of(match["month"])) if match["month"] else 0
    day = int(value_of(match["day"])) if match["day"] else 0
    if not 1 <= month <= 12:
        return (year, 1, 1), (year, 12, 31)
    return (year, month, day or 1), (year, month, day or 31)
