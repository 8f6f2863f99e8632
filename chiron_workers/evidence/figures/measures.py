"""The numbers of a text with their units, ranges joined: 5-10 km, between 5 and 10 km, 37.2 ± 0.3 °C."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.numerals import Numeral, money_scale, read_numerals
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS, qualify
from chiron_workers.evidence.figures.quantities import Quantity
from chiron_workers.evidence.figures.unit_table import CURRENCIES, Unit
from chiron_workers.evidence.figures.units import rate_after, unit_after
from chiron_workers.evidence.vocabulary import words

_COUNT = Unit("count")
_LINK = re.compile(r"(?: ?- ?| to | or )(?:about |approximately |roughly |~)?[$€£¥]?$")
_AND = re.compile(r" and [$€£¥]?$")
_TOGETHER = re.compile(r",? (?:and )?")  # one hour and 33 minutes
_SPREAD = re.compile(r",? ?(?:±|\+/-|plus or minus|give or take) ?")
_BETWEEN = re.compile(r"\bbetween [$€£¥]?$", re.I)
_NAME_BEFORE = re.compile(r"(?P<name>\b[A-Z][\w.&']*)[ -]$")
_NUMBERED_KIND = re.compile(rf"\b(?:{'|'.join(words('numbered'))}) $", re.I)
_NO_NAMES = frozenset(words("no names"))


def read_measures(text: str, dated: Sequence[DateSpan]) -> Iterator[Quantity]:
    """Every number that is no part of a date, with its unit; a range is one of them."""
    yield from _join_ranges(text, _measure_numerals(text, dated))


def _measure_numerals(text: str, dated: Sequence[DateSpan]) -> list[Quantity]:
    found = []
    days = {place for moment in dated for place in range(moment.start, moment.end)}
    for number in read_numerals(text):
        if number.start in days or number.end - 1 in days:
            continue
        unit, start, end = _unit(text, number)
        if unit is None or (
            number.is_one and (unit.dimension in {"count", "name"} or "day" in text[start:end])
        ):
            continue
        value = number.value * unit.factor + unit.offset
        found.append(
            Quantity(
                value,
                value,
                number.step * unit.factor,
                unit.dimension,
                text[start:end].strip(),
                start,
                end,
                number_end=number.end,
            )
        )
    return found


def _unit(text: str, number: Numeral) -> tuple[Unit | None, int, int]:
    before = text[max(0, number.start - BEFORE_CHARS) : number.start]
    for symbol in ("US$", *CURRENCIES):
        if before.rstrip(" -").endswith(symbol):
            start = text.rindex(symbol, 0, number.start)
            scale, end = money_scale(text, number.end)
            per = re.compile(r" per \w+|/\w+").match(text, end)
            return (
                Unit(CURRENCIES[symbol] + (per[0].replace(" per ", "/") if per else ""), Fraction(scale)),
                start,
                end,
            )
    if (found := unit_after(text, number.end)) is not None:
        return found[0], number.start, found[1]
    if re.match(r"[A-Za-z]", text[number.end : number.end + 1]):
        return None, number.start, number.end  # 5G, 3D, 12th
    named = _NAME_BEFORE.search(before)
    kind = _NUMBERED_KIND.search(before)
    if number.in_digits and (kind or (named and named["name"].lower() not in _NO_NAMES)):
        return Unit("name"), number.start, number.end
    if (rate := rate_after(text, number.end)) is not None:
        return rate[0], number.start, rate[1]
    return _COUNT, number.start, number.end


def _join_ranges(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    waiting = list(found)
    while waiting:
        one = waiting.pop(0)
        if waiting and (joined := _join(text, one, waiting[0])) is not None:
            waiting.pop(0)
            one = joined
        yield qualify(text, one)


def _join(text: str, one: Quantity, other: Quantity) -> Quantity | None:
    gap = text[one.end : other.start]
    spread = _SPREAD.fullmatch(gap) is not None
    if _TOGETHER.fullmatch(gap) and one.dimension == other.dimension == "time" and other.low < one.step:
        return replace(
            one,
            low=one.low + other.low,
            high=one.high + other.high,
            step=other.step,
            end=other.end,
            written=text[one.start : other.end],
        )
    ranges = _LINK.fullmatch(gap) or (
        _AND.fullmatch(gap) and _BETWEEN.search(text[max(0, one.start - BEFORE_CHARS) : one.start])
    )
    if one.dimension not in {other.dimension, "count"} or not (spread or ranges):
        return None
    low, width = Fraction(one.low), Fraction(other.low)
    shared = unit_after(text, other.number_end)
    if shared is not None:
        width -= shared[0].offset
        low = low * shared[0].factor + shared[0].offset if one.dimension == "count" else low
    ends = (low - width, low + width) if spread else (low, Fraction(other.high))
    if ends[0] > ends[1]:
        return None
    written = text[one.start : other.end]
    return Quantity(*ends, min(one.step, other.step), other.dimension, written, one.start, other.end)
