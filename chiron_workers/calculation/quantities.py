"""Quantities and what can be done with them: exact fractions with units, bounded in size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
)
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import TYPE_CHECKING, Any

from chiron_workers.calculation.units import PLAIN, Unit, bounded, registry, written
from chiron_workers.errors import ToolError

if TYPE_CHECKING:
    from pint import Quantity as PintQuantity

BITS_MAX = 10_000  # of a numerator or a denominator: about 3,000 digits
POWER_MAX = 1_000
DIGITS = 50  # of roots and logarithms, which have no exact fraction
DECIMALS_MAX = 30
TOO_LARGE = "A number in it has more than 3,000 digits. Give smaller numbers, or units with prefixes such as km and Mt."
TOO_ROUGH = "It cannot be calculated: {name} takes other numbers (got {value})."
_CONTEXT = Context(
    prec=DIGITS,
    rounding=ROUND_HALF_EVEN,
    Emin=-2_000,
    Emax=2_000,
    traps=[Overflow, Underflow, InvalidOperation, DivisionByZero],
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; `is_rounded` where a root or a logarithm had no exact fraction."""

    value: Fraction
    unit: Unit
    is_rounded: bool = False


def plain(value: Fraction | int) -> Quantity:
    """A number without a unit."""
    return _checked(Quantity(Fraction(value), PLAIN))


def add(first: Quantity, second: Quantity) -> Quantity:
    """The sum, in the unit of the first."""
    return _by_pint(lambda a, b: a + b, first, second)


def subtract(first: Quantity, second: Quantity) -> Quantity:
    """The difference, in the unit of the first."""
    return _by_pint(lambda a, b: a - b, first, second)


def multiply(first: Quantity, second: Quantity) -> Quantity:
    """The product; units that can be converted into each other are not joined until the end."""
    return _by_pint(lambda a, b: a * b, first, second)


def divide(first: Quantity, second: Quantity) -> Quantity:
    """The quotient. Raises ToolError for one by zero."""
    if not second.value:
        raise ToolError("It divides by zero.")
    return _by_pint(lambda a, b: a / b, first, second)


def negate(quantity: Quantity) -> Quantity:
    """The number with the other sign."""
    return replace(quantity, value=-quantity.value)


def raise_to(base: Quantity, exponent: Quantity) -> Quantity:
    """A power. A whole exponent keeps it exact; any other takes a number above zero and is rounded to 50 digits."""
    power = convert(exponent, PLAIN).value
    if abs(power) > POWER_MAX:
        raise ToolError(f"Its exponent is beyond {POWER_MAX:,}. Give a smaller one.")
    unit = bounded({name: part * power for name, part in base.unit.items() if power})
    if any(part.denominator != 1 for part in unit.values()):
        raise ToolError(f"A power of {power} leaves no whole unit of {written(base.unit)}.")
    if base.unit and _is_offset(base.unit):
        raise ToolError(_offset_sentence(base.unit))
    is_rounded = base.is_rounded or exponent.is_rounded
    if power.denominator == 1:
        if not base.value and power < 0:
            raise ToolError("It divides by zero.")
        if max(_bits(base.value)) * abs(power) > BITS_MAX:
            raise ToolError(TOO_LARGE)
        return _checked(Quantity(base.value ** int(power), unit, is_rounded))
    if power == Fraction(1, 2) and (root := _exact_root(base.value)) is not None:
        return Quantity(root, unit, is_rounded)
    if base.value < 0 or (not base.value and power < 0):
        raise ToolError("It takes a root of a number below zero.")
    value = _rounded("a power", base.value, lambda number: _CONTEXT.power(number, _decimal(power)))
    return _checked(Quantity(value, unit, is_rounded=True))


def convert(quantity: Quantity, unit: Unit) -> Quantity:
    """The same quantity in another unit. Raises ToolError where there is no way from one to the other."""
    if quantity.unit == unit:
        return quantity
    outcome = _guarded(lambda: _as_pint(quantity).to(registry().UnitsContainer(dict(unit))))
    return replace(_as_ours(outcome), unit=unit, is_rounded=quantity.is_rounded)


def simplify(quantity: Quantity) -> Quantity:
    """A quantity whose units cancel out (km/m) as a plain number; any other as it is."""
    is_number = quantity.unit and _as_pint(quantity).dimensionless
    return convert(quantity, PLAIN) if is_number and set(quantity.unit) != {"percent"} else quantity


def absolute(quantity: Quantity) -> Quantity:
    """Without its sign."""
    return replace(quantity, value=abs(quantity.value))


def root(quantity: Quantity) -> Quantity:
    """The square root: exact where there is one, else rounded to 50 digits."""
    return raise_to(quantity, plain(Fraction(1, 2)))


def total(*quantities: Quantity) -> Quantity:
    """The sum of several, in the unit of the first."""
    result = quantities[0]
    for quantity in quantities[1:]:
        result = add(result, quantity)
    return result


def mean(*quantities: Quantity) -> Quantity:
    """The arithmetic mean, in the unit of the first."""
    return divide(total(*quantities), plain(len(quantities)))


def least(*quantities: Quantity) -> Quantity:
    """The smallest, in the unit of the first."""
    return min(_alike(quantities), key=lambda quantity: quantity.value)


def greatest(*quantities: Quantity) -> Quantity:
    """The largest, in the unit of the first."""
    return max(_alike(quantities), key=lambda quantity: quantity.value)


def round_to(quantity: Quantity, decimals: Quantity | None = None) -> Quantity:
    """Rounded to so many decimals, half away from zero."""
    places = convert(decimals, PLAIN).value if decimals else Fraction()
    if places.denominator != 1 or abs(places) > DECIMALS_MAX:
        raise ToolError(f"round takes a whole number of decimals up to {DECIMALS_MAX}.")
    return replace(quantity, value=rounded(quantity.value, int(places)))


def round_down(quantity: Quantity) -> Quantity:
    """The whole number below."""
    return replace(quantity, value=Fraction(floor(quantity.value)))


def round_up(quantity: Quantity) -> Quantity:
    """The whole number above."""
    return replace(quantity, value=Fraction(ceil(quantity.value)))


def exponential(quantity: Quantity) -> Quantity:
    """e to this power, rounded to 50 digits."""
    return _transcendental("exp", _CONTEXT.exp, quantity)


def natural_logarithm(quantity: Quantity) -> Quantity:
    """To the base e, rounded to 50 digits."""
    return _transcendental("ln", _CONTEXT.ln, quantity)


def common_logarithm(quantity: Quantity) -> Quantity:
    """To the base 10, rounded to 50 digits."""
    return _transcendental("log10", _CONTEXT.log10, quantity)


def rounded(value: Fraction, decimals: int) -> Fraction:
    """A number rounded to so many decimals, half away from zero."""
    scale = Fraction(10) ** decimals
    whole = floor(abs(value) * scale + Fraction(1, 2))
    return Fraction(whole if value >= 0 else -whole) / scale


def _transcendental(name: str, function: Callable[[Decimal], Decimal], quantity: Quantity) -> Quantity:
    number = convert(quantity, PLAIN)
    if name != "exp" and number.value <= 0:
        raise ToolError(f"{name} takes a number above zero.")
    return _checked(Quantity(_rounded(name, number.value, function), PLAIN, is_rounded=True))


def _rounded(name: str, value: Fraction, function: Callable[[Decimal], Decimal]) -> Fraction:
    try:
        return Fraction(function(_decimal(value)))
    except (Overflow, Underflow):
        raise ToolError(TOO_LARGE) from None
    except InvalidOperation:
        raise ToolError(TOO_ROUGH.format(name=name, value=f"{float(value):.6g}")) from None


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _exact_root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    above, below = isqrt(value.numerator), isqrt(value.denominator)
    is_exact = above**2 == value.numerator and below**2 == value.denominator
    return Fraction(above, below) if is_exact else None


def _alike(quantities: Sequence[Quantity]) -> list[Quantity]:
    return [convert(quantity, quantities[0].unit) for quantity in quantities]


def _by_pint(operation: Callable[[Any, Any], Any], first: Quantity, second: Quantity) -> Quantity:
    outcome = _guarded(lambda: operation(_as_pint(first), _as_pint(second)))
    result = _as_ours(outcome)
    return _checked(
        replace(result, unit=bounded(result.unit), is_rounded=first.is_rounded or second.is_rounded)
    )


def _guarded(operation: Callable[[], Any]) -> Any:
    from pint import DimensionalityError, OffsetUnitCalculusError

    try:
        return operation()
    except DimensionalityError as error:
        sides = [_named(side) for side in (error.units1, error.units2)]
        raise ToolError(f"{sides[0]} and {sides[1]} measure different things.") from None
    except OffsetUnitCalculusError:
        raise ToolError(
            "Temperatures in degrees can only be subtracted and compared. Convert them to kelvin with an input's unit K."
        ) from None
    except (TypeError, OverflowError, ValueError):
        # Decibels and similar units are logarithms.
        raise ToolError("A unit in it has no exact conversion. Calculate with plain numbers.") from None


def _named(unit: Any) -> str:
    powers = unit._units if hasattr(unit, "_units") else unit
    return written(dict(powers)) or "a plain number"


def _is_offset(unit: Unit) -> bool:
    return not _as_pint(Quantity(Fraction(1), unit))._is_multiplicative


def _offset_sentence(unit: Unit) -> str:
    return f"A power of {written(unit)} has no meaning. Convert it to kelvin with an input's unit K."


def _as_pint(quantity: Quantity) -> "PintQuantity[Fraction]":
    units = registry()
    return units.Quantity(quantity.value, units.UnitsContainer(dict(quantity.unit)))


def _as_ours(outcome: Any) -> Quantity:
    if not isinstance(outcome.magnitude, (Fraction, int)):
        raise TypeError(outcome.magnitude)
    return Quantity(
        Fraction(outcome.magnitude), {name: Fraction(power) for name, power in outcome.unit_items()}
    )


def _checked(quantity: Quantity) -> Quantity:
    if max(_bits(quantity.value)) > BITS_MAX:
        raise ToolError(TOO_LARGE)
    return quantity


def _bits(value: Fraction) -> tuple[int, int]:
    return value.numerator.bit_length(), value.denominator.bit_length()
