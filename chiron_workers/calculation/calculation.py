"""One calculation: an expression over named inputs, its result with the exact fraction, and the formula for readers."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from chiron_workers.calculation.expressions import FUNCTIONS, NAME, read_expression, read_number
from chiron_workers.calculation.quantities import DECIMALS_MAX, Quantity, convert, rounded, simplify
from chiron_workers.calculation.units import forget_units, read_unit, written
from chiron_workers.errors import ToolError

INPUTS_MAX = 30
SHOWN_DIGITS = 15  # a float of that many digits is read back as it was written
WHOLE_DIGITS_MAX = 18
EXACT_CHARS_MAX = 60


@dataclass(frozen=True, slots=True)
class Input:
    """A number as its source writes it, with its unit and the id of the fact that says it, if one does."""

    value: str
    unit: str = ""
    fact_id: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a calculation.

    `value` is a decimal; where that is not exact, `is_rounded`. `exact` is the fraction (5/3) where there is one that
    is short. `formula` is the whole calculation on one line. `own_numbers` are the numbers in it that are from no fact.
    """

    value: str
    unit: str
    exact: str
    is_rounded: bool
    formula: str
    fact_ids: tuple[str, ...]
    own_numbers: tuple[str, ...]


def calculate(
    expression: str, inputs: Mapping[str, Input], *, unit: str = "", decimals: int | None = None
) -> Outcome:
    """Calculate exactly. Takes milliseconds, and half a second when units are first used.

    Args:
        unit: Of the result. Empty: the one that comes out.
        decimals: To which the result is rounded, half away from zero. None: 15 digits where it does not end before.

    Raises:
        ToolError: It cannot be calculated. The sentence names the argument and says why.
    """
    if len(inputs) > INPUTS_MAX:
        raise ToolError(f"inputs: at most {INPUTS_MAX} (got {len(inputs)}).")
    if decimals is not None and not 0 <= decimals <= DECIMALS_MAX:
        raise ToolError(f"decimals: between 0 and {DECIMALS_MAX} (got {decimals}).")
    forget_units()
    parsed = read_expression(expression)
    quantities = {name: _read_input(name, entry) for name, entry in inputs.items()}
    if unknown_names := sorted(parsed.names - set(inputs)):
        raise ToolError(
            f"expression: {unknown_names[0]} is not among the inputs ({', '.join(inputs) or 'none'})."
        )
    if unused_names := sorted(set(inputs) - parsed.names):
        raise ToolError(f"inputs: {unused_names[0]} does not occur in the expression. Leave it out.")
    try:
        quantity = simplify(parsed.value(quantities))
    except ToolError as error:
        raise ToolError(f"expression: {error}") from None
    if unit.strip():
        try:
            quantity = convert(quantity, read_unit(unit))
        except ToolError as error:
            raise ToolError(f"unit: {error}") from None
    return _outcome(parsed.text, parsed.own_numbers, inputs, quantity, decimals)


def _outcome(
    text: str,
    literals: tuple[str, ...],
    inputs: Mapping[str, Input],
    quantity: Quantity,
    decimals: int | None,
) -> Outcome:
    value = _decimal_text(quantity.value, decimals)
    is_rounded = quantity.is_rounded or Fraction(value) != quantity.value
    exact = "" if quantity.is_rounded else str(quantity.value)
    unit = written(quantity.unit)
    assumed_numbers = [entry.value.strip() for entry in inputs.values() if not entry.fact_id]
    terms = [
        f"{name} = {_with_unit(entry.value.strip(), entry.unit.strip())}" for name, entry in inputs.items()
    ]
    result = f"{text} {'≈' if is_rounded else '='} {_with_unit(value, unit)}"
    return Outcome(
        value=value,
        unit=unit,
        exact=exact if len(exact) <= EXACT_CHARS_MAX else "",
        is_rounded=is_rounded,
        formula=f"{result}, where {', '.join(terms)}" if terms else result,
        fact_ids=tuple(dict.fromkeys(entry.fact_id for entry in inputs.values() if entry.fact_id)),
        own_numbers=tuple(dict.fromkeys([*literals, *assumed_numbers])),
    )


def _read_input(name: str, entry: Input) -> Quantity:
    if not NAME.fullmatch(name) or name in FUNCTIONS:
        raise ToolError(
            f"inputs: {name[:40]!r} is not a name. Take letters, digits and _, a letter first, and not the name of a function."
        )
    try:
        return Quantity(read_number(entry.value), read_unit(entry.unit))
    except ToolError as error:
        raise ToolError(f"inputs: {name}: {error}") from None


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def _decimal_text(value: Fraction, decimals: int | None) -> str:
    if decimals is not None:
        value = rounded(value, decimals)
    if value.denominator == 1 and abs(value) < 10**WHOLE_DIGITS_MAX:
        return str(value.numerator)
    digits = SHOWN_DIGITS if decimals is None else max(SHOWN_DIGITS, len(str(abs(value.numerator))))
    shown = Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(shown.normalize(Context(prec=digits))).replace("E+", "e").replace("E", "e")
