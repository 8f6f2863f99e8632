"""The unit that stands behind a number: km/h, grams per litre, dollars a day, requests per second."""

import re
from functools import cache

from chiron_workers.evidence.figures.cjk_numerals import CONTINUOUS_SCRIPTS
from chiron_workers.evidence.figures.unit_table import UNITS, UNSPACED_UNITS, Unit

_JOINED_DIMENSIONS = {"length/time": "speed", "Wh": "energy"}
_ANY_CASE = {name.casefold(): unit for name, unit in UNITS.items() if len(name) > 4}
_PER = re.compile(
    r"(?: of [a-z]+)?(?: ?/ ?| per | (?:an?|each|every) (?=(?:second|minute|hour|day|week|month|year|decade)\b))",
    re.I,
)
_COUNTED_PER = re.compile(
    r"(?: (?!and|or|in|of|for|to|at|on)[a-z-]+){1,2} (?:per|an?(?= (?:second|minute|hour|day|week|month|year)\b)) "
)
# 3天 are three days, 天然 is nature.
_NO_UNIT_BEFORE = "拉服兰素件旦然气氣空速合国國軍军"
_WORD = re.compile(r"[A-Za-z]+[²³]?")


@cache
def _names() -> tuple[re.Pattern[str], ...]:
    # Compiled when first needed: 400 names take a while.
    exact, any_case = (
        "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        for names in (UNITS, _ANY_CASE)
    )
    continuous = "|".join(map(re.escape, sorted(UNSPACED_UNITS, key=len, reverse=True)))
    return (
        re.compile(rf"(?P<gap>[ -]?)(?P<name>{exact})(?![^\W{CONTINUOUS_SCRIPTS}]|[\^²³])"),
        re.compile(rf"(?P<gap>[ -]?)(?P<name>{any_case})(?![^\W{CONTINUOUS_SCRIPTS}])", re.I),
        re.compile(rf"(?P<gap> ?)(?P<name>{continuous})(?![{_NO_UNIT_BEFORE}])"),
    )


def unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """The unit that stands behind a number which ends at `end`, and where the unit ends.

    Rates are units too: km/h, grams per litre, dollars a day, and `per` anything (its word becomes a part of the dimension).
    """
    unit_match = _match_unit(text, end)
    if unit_match is None:
        return None
    unit, end = unit_match
    if (per := _PER.match(text, end)) is None:
        return unit, end
    # A letter behind a number is a unit only with the number before it, and so is one behind a slash.
    below = _match_unit(text, per.end(), gap=False)
    if below is not None:
        dimension = f"{unit.dimension}/{below[0].dimension}"
        return Unit(_JOINED_DIMENSIONS.get(dimension, dimension), unit.factor / below[0].factor), below[1]
    word = _WORD.match(text, per.end())
    return (Unit(f"{unit.dimension}/{word[0].casefold()}", unit.factor), word.end()) if word else (unit, end)


def rate_after(text: str, end: int) -> tuple[Unit, int] | None:
    """What a bare number counts in, where that is a rate: 1,000 requests per second; and where the rate ends."""
    per = _COUNTED_PER.match(text, end)
    below = _match_unit(text, per.end(), gap=False) if per else None
    return (Unit(f"count/{below[0].dimension}", 1 / below[0].factor), below[1]) if below else None


def _match_unit(text: str, end: int, *, gap: bool = True) -> tuple[Unit, int] | None:
    matches = [match for match in (names.match(text, end) for names in _names()) if match]
    match = max(matches, key=lambda match: match.end(), default=None)
    if match is None or (match["gap"] and not gap):
        return None
    name = match["name"]
    unit = UNITS.get(name) or UNSPACED_UNITS.get(name) or _ANY_CASE[name.casefold()]
    # 300K may be 300,000, and "a 5-a side": letters need a space or their own usual place.
    if name in {"K", "A", "B"} and match["gap"] != " ":
        return None
    return unit, match.end()
