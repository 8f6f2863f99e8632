"""The numbers of a text with their units, ranges joined: 5-10 km, between 5 and 10 km, 37.2 ± 0.3 °C."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from chiron_workers.evidence.figures.cjk_numerals import is_hundredth
from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.identifiers import (
    continues_list,
    is_behind_kind,
    is_identifier,
    is_in_code,
    is_ordinal,
)
from chiron_workers.evidence.figures.numerals import Numeral, money_scale, read_numerals
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS, qualify
from chiron_workers.evidence.figures.quantities import Quantity
from chiron_workers.evidence.figures.unit_table import CURRENCIES, Unit
from chiron_workers.evidence.figures.units import rate_after, unit_after

_COUNT = Unit("count")
_SHARE_BEFORE = re.compile(r"(?:(?<!\d)(?<!\d )%|\byüzde|ร้อยละ) ?$", re.I)
_LINK = re.compile(r"(?: ?- ?| to | or )(?:about |approximately |roughly |~)?[$€£¥]?$")
_AND = re.compile(r" and [$€£¥]?$")
_TOGETHER = re.compile(r",? (?:and )?")  # one hour and 33 minutes
_SPREAD = re.compile(r",? ?(?:±|\+/-|plus or minus|give or take) ?")
_BETWEEN = re.compile(r"\bbetween [$€£¥]?$", re.I)


def read_measures(text: str, dates: Sequence[DateSpan]) -> Iterator[Quantity]:
    """Every number that is no part of a date, with its unit; a range is one of them."""
    queue = _measure_numerals(text, dates)
    while queue:
        quantity = queue.pop(0)
        if queue and (span := _join(text, quantity, queue[0])) is not None:
            queue.pop(0)
            quantity = span
        yield qualify(text, quantity)


def _measure_numerals(text: str, dates: Sequence[DateSpan]) -> list[Quantity]:
    quantities: list[Quantity] = []
    days = {place for date in dates for place in range(date.start, date.end)}
    for number in read_numerals(text):
        if number.start in days or number.end - 1 in days or is_in_code(text, number.start, number.end):
            continue
        unit, start, end = _unit(text, number)
        if unit is _COUNT and quantities and quantities[-1].dimension == "name":
            is_listed = continues_list(text, quantities[-1], number.start, number.end)
            unit = Unit("name") if is_listed and number.in_digits else unit
        if unit is None or (
            number.is_one and (unit.dimension in {"count", "name"} or "day" in text[start:end])
        ):
            continue
        value, step = number.value * unit.factor + unit.offset, number.step * unit.factor
        written = text[start:end].strip()
        quantities.append(Quantity(value, value, step, unit.dimension, written, start, end, number.end))
    return quantities


def _unit(text: str, number: Numeral) -> tuple[Unit | None, int, int]:
    before = text[max(0, number.start - BEFORE_CHARS) : number.start]
    for symbol in ("US$", *CURRENCIES):
        if before.rstrip(" -").endswith(symbol):
            start = text.rindex(symbol, 0, number.start)
            scale, end = money_scale(text, number.end)
            per = re.compile(r" per \w+|/\w+").match(text, end)
            dimension = CURRENCIES[symbol] + (per[0].replace(" per ", "/") if per else "")
            return Unit(dimension, Fraction(scale)), start, end
    if is_ordinal(before):
        return Unit("name"), number.start, number.end  # 第3天 is a day, and no time
    # ٪٥ is Arabic, and %5 and yüzde 5 are Turkish.
    is_share = _SHARE_BEFORE.search(before) is not None or is_hundredth(text, number.start)
    if is_share:
        return Unit("share", Fraction(1, 100)), number.start, number.end
    unit_match = unit_after(text, number.end)
    # A letter is a unit of a number, and a part of a name: "5 A", "Article 5 A".
    is_letter = unit_match is not None and unit_match[1] - number.end <= 2 and is_behind_kind(before)
    if unit_match is not None and not is_letter:
        return unit_match[0], number.start, unit_match[1]
    if re.match(r"[A-Za-z]", text[number.end : number.end + 1]):
        return None, number.start, number.end  # 5G, 3D, 12th
    if is_identifier(text, number.start, number.end, in_digits=number.in_digits):
        return Unit("name"), number.start, number.end
    if (rate := rate_after(text, number.end)) is not None:
        return rate[0], number.start, rate[1]
    return _COUNT, number.start, number.end


def _join(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    gap = text[first.end : second.start]
    spread = _SPREAD.fullmatch(gap) is not None
    if _TOGETHER.fullmatch(gap) and first.dimension == second.dimension == "time" and second.low < first.step:
        return replace(
            first,
            low=first.low + second.low,
            high=first.high + second.high,
            step=second.step,
            end=second.end,
            written=text[first.start : second.end],
        )
    ranges = _LINK.fullmatch(gap) or (
        _AND.fullmatch(gap) and _BETWEEN.search(text[max(0, first.start - BEFORE_CHARS) : first.start])
    )
    if first.dimension not in {second.dimension, "count"} or not (spread or ranges):
        return None
    low, width = Fraction(first.low), Fraction(second.low)
    unit_match = unit_after(text, second.number_end)
    if unit_match is not None:
        width -= unit_match[0].offset
        low = low * unit_match[0].factor + unit_match[0].offset if first.dimension == "count" else low
    ends = (low - width, low + width) if spread else (low, Fraction(second.high))
    if ends[0] > ends[1]:
        return None
    step = min(first.step, second.step)
    return Quantity(*ends, step, second.dimension, text[first.start : second.end], first.start, second.end)
