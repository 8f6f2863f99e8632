"""What a fact says in numbers, dates and negations that the quote it rests on does not say."""

import re
from collections.abc import Collection
from math import inf

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.figures import Figures
from chiron_workers.evidence.figures.quantities import Agreement, Quantity
from chiron_workers.evidence.statements.statement import Statement, parse

FIGURES_MAX = 100  # of a fact that are looked for
_CODE = re.compile(r"\b(?:[A-Za-z]+-?\d+|\d+[A-Za-z]+)\b")  # GPT-4, 5G
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
PLAIN_DENIALS = {"not", "never", "cannot"}


def find_unsupported(fact: str, quote: str) -> list[str]:
    """One short sentence for each number, date or negation of the fact that the quote lacks; none where it has all.

    A number is there in other digits, words or units too (three, 5 km for 5,000 m), or more precisely. What the quote
    denies and the fact does not is pointed out as well.
    """
    fact_parts, quote_parts = parse(fact), parse(quote)
    missing_parts = missing_figures(fact, quote)
    if fact_parts.negations and not quote_parts.negations:
        missing_parts.append(f'"{fact_parts.negations[0]}"')
    sentences = [f"The fact says {figure}, the quote does not." for figure in missing_parts]
    return sentences + ([] if fact_parts.negations else _denials(fact_parts, quote_parts))


def missing_figures(fact: str, quote: str) -> list[str]:
    """The numbers and dates of a fact, as it writes them, that its quote does not show in any notation."""
    statement, quote_figures = parse(fact), parse(quote).figures
    # Units and months of other languages are not read, but digits are.
    digits = frozenset() if statement.is_english else frozenset(_DIGITS.findall(quote_figures.text))
    missing_parts = [
        figure.written
        for figure in statement.figures.all[:FIGURES_MAX]
        if not (_shows(quote_figures, figure) or _stands_in(digits, figure))
    ]
    return list(dict.fromkeys([*missing_parts, *_unread(statement.figures, quote_figures)]))


def _stands_in(digits: Collection[str], figure: Quantity | DateSpan) -> bool:
    numbers = _DIGITS.findall(figure.written)
    has_unit = figure.dimension not in {"count", "name", "rank", "date"}
    return bool(numbers) and not has_unit and all(number in digits for number in numbers)


def _denials(fact: Statement, quote: Statement) -> list[str]:
    if not all(word in PLAIN_DENIALS or word.endswith("n't") for word in quote.negations):
        return []  # nobody, nothing, without: what they deny is harder to tell
    stems = [stem for stem in quote.denied_stems if stem in fact.stems and quote.order.count(stem) == 1]
    words = {word.stem: word.written for word in quote.words}
    return [f'The quote denies "{words[stem]}", the fact does not.' for stem in dict.fromkeys(stems)]


def _shows(quote: Figures, figure: Quantity | DateSpan) -> bool:
    return _shows_quantity(quote, figure) if isinstance(figure, Quantity) else _shows_date(quote, figure)


def _shows_quantity(quote: Figures, quantity: Quantity) -> bool:
    if quantity.dimension == "rank" and quantity.low <= 2:
        return True  # "first" counts nothing in most sentences
    if any(_is_shown_by(rival, quantity) for rival in quote.quantities):
        return True
    ends = {rival.low for rival in quote.quantities if rival.dimension == quantity.dimension}
    if quantity.low != quantity.high and {quantity.low, quantity.high} <= ends:
        return True
    years = (moment.first[0] for moment in quote.dates)
    return quantity.dimension in {"count", "name"} and any(year == quantity.low for year in years)


def _is_shown_by(rival: Quantity, quantity: Quantity) -> bool:
    kinds = {quantity.dimension, rival.dimension}
    # Which of these it is, only the neighbours say, and they may differ.
    if len(kinds) > 1 and not kinds <= {"count", "name", "rank"}:
        return False
    if quantity.low == quantity.high and quantity.low in {rival.low, rival.high} - {inf, -inf}:
        return True
    return rival.agreement(quantity) is Agreement.EQUAL or (
        rival.agreement(quantity) is Agreement.NEAR
        and (rival.within(quantity) or (rival.step < quantity.step and not _is_range(rival)))
    )


def _is_range(quantity: Quantity) -> bool:
    """Whether it leaves open which number it is: more than 100, between 1 and 10. No exact number is shown by that."""
    return quantity.low == -inf or quantity.high == inf or quantity.high - quantity.low > 2 * quantity.step


def _unread(fact: Figures, quote: Figures) -> list[str]:
    """Digits of the fact that were not read as a figure, within names or in other languages, which the quote lacks."""
    is_read = bytearray(len(fact.text))
    for figure in fact.all:
        is_read[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
    quote_digits = set(_CODE.findall(quote.text.casefold())) | set(_DIGITS.findall(quote.text))
    missing_digits = []
    for match in (*_CODE.finditer(fact.text), *_DIGITS.finditer(fact.text)):
        if not any(is_read[match.start() : match.end()]):
            is_read[match.start() : match.end()] = b"\1" * len(match.group())
            missing_digits.append(match.group())
    return [digits for digits in missing_digits if digits.casefold() not in quote_digits]


def _shows_date(quote: Figures, date: DateSpan) -> bool:
    days = date.first[1:], date.last[1:]
    for rival in quote.dates:
        # "4 July" is shown by "4 July 2024".
        is_its_day = rival.has_year and not date.has_year and (rival.first[1:], rival.last[1:]) == days
        if is_its_day or rival.within(date):
            return True
    if date.has_year and _shows_in_parts(quote, date):
        return True
    return any(
        rival.dimension in {"count", "name"} and rival.low == date.first[0] for rival in quote.quantities
    )


def _shows_in_parts(quote: Figures, date: DateSpan) -> bool:
    """Whether its day or month stands in one place and its year in another: "In 1995 ... on October 6th"."""
    is_of_one_year = date.first[0] == date.last[0]
    has_day = any(
        not rival.has_year and (rival.first[1:], rival.last[1:]) == (date.first[1:], date.last[1:])
        for rival in quote.dates
    )
    has_year = any(rival.first[0] == date.first[0] for rival in quote.dates)
    return is_of_one_year and has_day and has_year
