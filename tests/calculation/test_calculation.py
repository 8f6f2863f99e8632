"""Calculations: exact fractions with units, a sentence for each thing that cannot be calculated, and bounds that hold."""

import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chiron_workers.calculation import units
from chiron_workers.calculation.calculation import Input, Outcome, calculate
from chiron_workers.calculation.units import read_unit, registry, written
from chiron_workers.errors import ToolError

pytestmark = pytest.mark.hypothesis


def result(expression: str, unit: str = "", decimals: int | None = None, **inputs: str) -> Outcome:
    """Of an expression whose inputs are written "1741 m"."""
    pairs = {name: text.partition(" ") for name, text in inputs.items()}
    numbers = {name: Input(number, symbol) for name, (number, _, symbol) in pairs.items()}
    return calculate(expression, numbers, unit=unit, decimals=decimals)


def refusal(expression: str, unit: str = "", **inputs: str) -> str:
    with pytest.raises(ToolError) as error:
        result(expression, unit, **inputs)
    return str(error.value)


@pytest.mark.parametrize(
    ("expression", "inputs", "value", "unit"),
    [
        ("0.1 + 0.2", {}, "0.3", ""),
        ("a - b", {"a": "1741 m", "b": "0.2 km"}, "1541", "m"),
        ("a / b", {"a": "10 km", "b": "2 h"}, "5", "km/h"),
        ("a / b", {"a": "500 people", "b": "2 km²"}, "250", "person/km^2"),
        ("a / b", {"a": "3 km", "b": "2 m"}, "1500", ""),
        ("a - b", {"a": "20 degC", "b": "5 °C"}, "15", "Δ°C"),
        ("sqrt(a)", {"a": "16 m^2"}, "4", "m"),
        ("mean(a, b, 4)", {"a": "1", "b": "2.5"}, "2.5", ""),
        ("max(a, b)", {"a": "1 km", "b": "1500 m"}, "1.5", "km"),
        ("a × b ÷ 2 − 1 + 2^3", {"a": "3", "b": "4"}, "13", ""),
        ("-a ** 2", {"a": "3"}, "-9", ""),
        ("a * b", {"a": "$12.50", "b": "3"}, "", ""),
        ("a * b", {"a": "12.50 USD", "b": "3"}, "37.5", "USD"),
        ("round(a, 1)", {"a": "0.25"}, "0.3", ""),
        ("10 ** 20 + 1", {}, "1e20", ""),
    ],
)
def test_calculate_is_exact_and_carries_units(
    expression: str, inputs: dict[str, str], value: str, unit: str
) -> None:
    if not value:
        assert "is not a number" in refusal(expression, **inputs)
        return
    outcome = result(expression, **inputs)
    assert (outcome.value, outcome.unit) == (value, unit)


@pytest.mark.parametrize(
    ("expression", "unit", "inputs", "value"),
    [
        ("a / b", "percent", {"a": "1", "b": "8"}, "12.5"),
        ("a", "degF", {"a": "25 degC"}, "77"),
        ("a", "K", {"a": "20 degC"}, "293.15"),
        ("a * b", "m^2", {"a": "1 m", "b": "5 km"}, "5000"),
        ("a", "cm", {"a": "1 inch"}, "2.54"),
        ("a / b", "m/s", {"a": "18 km", "b": "1 hour"}, "5"),
    ],
)
def test_calculate_converts_exactly_to_the_unit_of_the_result(
    expression: str, unit: str, inputs: dict[str, str], value: str
) -> None:
    outcome = result(expression, unit, **inputs)
    assert (outcome.value, outcome.is_rounded) == (value, False)


def test_calculate_tells_the_fraction_and_the_formula_and_says_where_it_rounds() -> None:
    outcome = calculate(
        "last / first",
        {"last": Input("5", "km", "fact-1"), "first": Input("3", "km", "fact-2")},
    )
    assert (outcome.value, outcome.exact, outcome.is_rounded) == ("1.66666666666667", "5/3", True)
    assert outcome.formula == "last / first ≈ 1.66666666666667, where last = 5 km, first = 3 km"
    assert (outcome.fact_ids, outcome.own_numbers) == (("fact-1", "fact-2"), ())
    growth = result("(b / a) ** (1 / 5) - 1", "percent", 2, a="100", b="150")
    assert (growth.value, growth.exact, growth.is_rounded) == ("8.45", "", True)
    assert growth.own_numbers == ("1", "100", "150"), "an exponent is no number of the result"


@pytest.mark.parametrize(
    ("expression", "inputs", "words"),
    [
        ("9**9**9", {}, "Its exponent is beyond 1,000"),
        ("(10**900)**900", {}, "more than 3,000 digits"),
        ("exp(99999)", {}, "more than 3,000 digits"),
        ("1/0", {}, "It divides by zero."),
        ("0**-1", {}, "It divides by zero."),
        ("a / (b - b)", {"a": "1 m", "b": "2 m"}, "It divides by zero."),
        ("(-8)**(1/3)", {}, "a root of a number below zero"),
        ("ln(0)", {}, "ln takes a number above zero"),
        ("nan", {}, "nan is not among the inputs"),
        ("a", {"a": "nan"}, "'nan' is not a number"),
        ("a", {"a": "1,741"}, "'1,741' is not a number"),
        ("a", {"a": "1e9999"}, "an exponent up to 999"),
        ("a", {"a": "9" * 51}, "may have 50 digits"),
        ("1,000 + 1", {}, "write 1000 for 1,000"),
        ("2 m + 3 m", {}, "it contains a unit"),
        ("1 + " * 200 + "1", {}, "between 1 and 500 characters"),
        ("+".join("1" * 110), {}, "more than 200 parts or 40 levels"),
        ("-" * 100 + "1", {}, "more than 200 parts or 40 levels"),
        ("(" * 250 + "1" + ")" * 240, {}, "cannot be read"),
        ("__import__('os').system('ls')", {}, "cannot be read"),
        ("a.real", {"a": "1"}, "cannot be read"),
        ("[1][0]", {}, "cannot be read"),
        ("1 if 1 else 2", {}, "cannot be read"),
        ("1 // 2", {}, "cannot be read"),
        ("0x10", {}, "it contains a unit"),
        ("eval(1)", {}, "there is no function eval"),
        ("sqrt(1, 2)", {}, "sqrt takes 1 to 1 numbers (got 2)"),
        ("a", {"a": "1", "b": "2"}, "b does not occur in the expression"),
        ("max", {"max": "1"}, "'max' is not a name"),
        ("a + b", {"a": "1 m", "b": "2 s"}, "m and s measure different things"),
        ("a + b", {"a": "1 USD", "b": "2 EUR"}, "USD and EUR measure different things"),
        ("a + 1", {"a": "1 m"}, "m and a plain number measure different things"),
        ("a", {"a": "1 kilometr"}, "There is no unit 'kilometr'. Did you mean kilometer?"),
        ("a", {"a": "1 m**99999"}, "is not a unit"),
        ("a", {"a": "1 m; s"}, "is not a unit"),
        ("a", {"a": "1 dB"}, "is a logarithmic unit"),
        ("a ** 30", {"a": "2 m"}, "a power beyond 24"),
        ("sqrt(a)", {"a": "2 m"}, "leaves no whole unit of m"),
        ("a + b", {"a": "20 degC", "b": "5 degC"}, "Temperatures in degrees"),
        ("", {}, "between 1 and 500 characters"),
    ],
)
def test_calculate_refuses_in_one_sentence_and_at_once(
    expression: str, inputs: dict[str, str], words: str
) -> None:
    read_unit("km")
    began = time.process_time()
    sentence = refusal(expression, **inputs)
    assert words in sentence
    assert "\n" not in sentence and len(sentence) < 300
    assert time.process_time() - began < 1


LEAVES = st.fractions(-1_000, 1_000, max_denominator=50)


def trees(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.sampled_from("+-*/"), children, children)


def text_of(tree: Any, inputs: dict[str, Fraction]) -> str:
    """The tree as an expression, its fractions as quotients of inputs."""
    if isinstance(tree, Fraction):
        name = f"n{len(inputs)}"
        inputs[name], inputs[f"d{len(inputs)}"] = Fraction(tree.numerator), Fraction(tree.denominator)
        return f"({name} / d{len(inputs) - 1})"
    sign, left, right = tree
    return f"({text_of(left, inputs)} {sign} {text_of(right, inputs)})"


def fraction_of(tree: Any) -> Fraction:
    if isinstance(tree, Fraction):
        return tree
    sign, left, right = tree
    a, b = fraction_of(left), fraction_of(right)
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    return a / b


@settings(max_examples=60, deadline=None)
@given(st.recursive(LEAVES, trees, max_leaves=6))
def test_calculate_agrees_with_fractions(tree: Any) -> None:
    inputs: dict[str, Fraction] = {}
    expression = text_of(tree, inputs)
    numbers = {name: Input(str(value)) for name, value in inputs.items()}
    try:
        expected = fraction_of(tree)
    except ZeroDivisionError:
        with pytest.raises(ToolError, match="It divides by zero"):
            calculate(expression, numbers)
        return
    outcome = calculate(expression, numbers)
    if outcome.exact:
        assert Fraction(outcome.exact) == expected
    error = abs(Fraction(outcome.value) - expected)
    assert error <= abs(expected) * Fraction(1, 10**14)
    assert outcome.is_rounded == (Fraction(outcome.value) != expected)


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(-(10**6), 10**6, max_denominator=1),
    st.sampled_from(
        [("km", "m"), ("hour", "s"), ("mile", "ft"), ("kWh", "J"), ("km^2", "ha"), ("degC", "degF")]
    ),
)
def test_convert_there_and_back_changes_nothing(number: Fraction, units: tuple[str, str]) -> None:
    first, second = units
    there = calculate("a", {"a": Input(str(number), first)}, unit=second)
    back = calculate("a", {"a": Input(there.value, second)}, unit=first)
    assert Fraction(back.value) == number


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789ab.+-*/()e, ^%_[]{}'\"\\λ", max_size=60))
def test_calculate_answers_or_refuses_any_text(text: str) -> None:
    try:
        calculate(text, {"a": Input("2", "m"), "b": Input("3")})
    except ToolError as error:
        assert str(error)


@pytest.mark.parametrize("name", ["km/h", "€/MWh", "1/s", "kg*m^2/s^2", "Δ°C", "percent", "people per km^2"])
def test_a_unit_that_is_written_is_read_as_the_same(name: str) -> None:
    unit = read_unit(name)
    assert read_unit(written(unit)) == unit


def test_calculate_remembers_few_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may read can name ever new units, in a process that runs for months."""
    monkeypatch.setattr(units, "REMEMBERED_MAX", 150)
    for first in range(1, 11):
        for second in range(1, 11):
            with pytest.raises(ToolError):
                calculate("a + b", {"a": Input("1", f"ft^{first}*lb^{second}"), "b": Input("1", "day")})
    assert len(registry()._cache.root_units) < 200
    assert calculate("a", {"a": Input("1", "mile")}, unit="m").value == "1609.344"
