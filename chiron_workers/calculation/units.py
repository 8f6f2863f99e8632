"""Units of quantities, by pint's registry with exact fractions; the text of a unit is bounded before pint reads it."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from rapidfuzz import process

from chiron_workers.errors import ToolError

if TYPE_CHECKING:
    from pint import UnitRegistry

UNIT_CHARS_MAX = 60
TERMS_MAX = 8
POWER_MAX = 24  # of one unit in a result
REMEMBERED_MAX = 2_000  # units by pint, which never forgets one by itself: 5 KB each
# Each currency is a separate dimension, since exchange rates are neither exact nor fixed.
CURRENCIES = {
    **{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"},
    **dict.fromkeys(
        (
            "AUD",
            "BRL",
            "CAD",
            "CHF",
            "CNY",
            "CZK",
            "DKK",
            "HKD",
            "HUF",
            "IDR",
            "ILS",
            "INR",
            "KRW",
            "MXN",
            "NOK",
        ),
        "",
    ),
    **dict.fromkeys(("NZD", "PLN", "SEK", "SGD", "THB", "TRY", "ZAR"), ""),
}
COUNTED = "person = [people] = _ = people = persons = inhabitant = inhabitants"
_SIGNS = {sign: code for code, sign in CURRENCIES.items() if sign} | {"%": "percent"}
_SUPERSCRIPTS = str.maketrans({"²": "^2", "³": "^3", "·": "*", "⋅": "*", "×": "*"})
_PER = re.compile(r"\s+per\s+")
_TERM = re.compile(
    r"(?P<sign>[*/]?)(?P<name>[°Δ]°?[A-Za-z]+|[^\W\d_]\w*|[%$€£¥])(?:(?:\^|\*\*)(?P<power>-?\d{1,2}))?"
)

Unit = Mapping[str, Fraction]  # the power of each unit by pint's name for it; empty: a plain number
PLAIN: Unit = {}


@cache
def registry() -> "UnitRegistry[Fraction]":
    """All units. Takes half a second of CPU when it is first used."""
    from pint import UnitRegistry

    units: UnitRegistry[Fraction] = UnitRegistry(non_int_type=Fraction)
    for code in CURRENCIES:
        units.define(f"{code} = [{code}]")
    units.define(COUNTED)
    return units


def read_unit(text: str) -> Unit:
    """The unit that a text names: km/h, kg*m^2, USD/person, percent; an empty one is that of plain numbers.

    Raises:
        ToolError: It is none; the sentence says why.
    """
    words = _PER.sub("/", text.strip().translate(_SUPERSCRIPTS)).replace(" ", "")
    if words in ("", "1"):
        return PLAIN
    words = words.removeprefix("1") if words.startswith("1/") else words
    terms = list(_TERM.finditer(words)) if len(text) <= UNIT_CHARS_MAX else []
    is_whole = "".join(term[0] for term in terms) == words and all(term["sign"] for term in terms[1:])
    if not (0 < len(terms) <= TERMS_MAX and is_whole):
        raise ToolError(
            f"{text[:UNIT_CHARS_MAX]!r} is not a unit. Write one as km/h, kg*m^2 or USD/person, with numbers in the expression."
        )
    powers: dict[str, Fraction] = {}
    for term in terms:
        name, sign = _canonical(term["name"]), -1 if term["sign"] == "/" else 1
        powers[name] = powers.get(name, Fraction()) + sign * int(term["power"] or 1)
    return bounded({name: power for name, power in powers.items() if power})


def forget_units() -> None:
    """Have pint forget what it has found out about units, once that is much; it finds it out again."""
    if not registry.cache_info().currsize:
        return
    caches = registry()._cache
    if len(caches.root_units) > REMEMBERED_MAX:
        for cache in (caches.root_units, caches.dimensionality, caches.parse_unit, caches.conversion_factor):
            cache.clear()


def bounded(unit: Unit) -> Unit:
    """The unit itself. Raises ToolError where its powers are beyond what anybody measures."""
    if len(unit) > TERMS_MAX or any(abs(power) > POWER_MAX for power in unit.values()):
        raise ToolError(
            f"A unit in it has a power beyond {POWER_MAX} or more than {TERMS_MAX} parts. Calculate with plain numbers."
        )
    return unit


def written(unit: Unit) -> str:
    """A unit by its symbols, as `read_unit` reads it: km/h, kg*m^2/s^2, 1/h."""
    above = "*".join(_part(name, power) for name, power in unit.items() if power > 0)
    below = "".join(f"/{_part(name, -power)}" for name, power in unit.items() if power < 0)
    return f"{above or '1'}{below}" if unit else ""


def _part(name: str, power: Fraction) -> str:
    symbol = registry().get_symbol(name)
    return symbol if power == 1 else f"{symbol}^{power}"


def _canonical(name: str) -> str:
    name = _SIGNS.get(name, name)
    if name in registry():
        try:
            registry().Quantity(Fraction(1), name).to_root_units()
        except TypeError:  # decibels and their like
            raise ToolError(f"{name} is a logarithmic unit. Calculate with plain numbers.") from None
        return registry().get_name(name)
    nearest = process.extractOne(name, _names(), score_cutoff=75)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    raise ToolError(f"There is no unit {name!r}.{hint} A count needs no unit.")


@cache
def _names() -> tuple[str, ...]:
    return tuple(name for name in dir(registry()) if len(name) > 2 and not name.startswith("_"))
