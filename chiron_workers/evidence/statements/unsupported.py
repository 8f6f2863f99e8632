"""What a fact says in numbers, dates and negations that the quote it rests on does not say."""

import re
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
    said, shown = parse(fact), parse(quote)
    figures = said.figures.all[:FIGURES_MAX]
    lacking = [_written(said.figures, one) for one in figures if not _shows(shown.figures, one)]
    lacking += _unread(said.figures, shown.figures)
    if said.negations and not shown.negations:
        lacking.append(f'"{said.negations[0]}"')
    told = [f"The fact says {figure}, the quote does not." for figure in dict.fromkeys(lacking)]
    return told + ([] if said.negations else _denials(said, shown))


def _denials(said: Statement, shown: Statement) -> list[str]:
    if not all(word in PLAIN_DENIALS or word.endswith("n't") for word in shown.negations):
        return []  # nobody, nothing, without: what they deny is harder to tell
    denied = [stem for stem in shown.denied_stems if stem in said.stems and shown.order.count(stem) == 1]
    words = {word.stem: word.written for word in shown.words}
    return [f'The quote denies "{words[stem]}", the fact does not.' for stem in dict.fromkeys(denied)]


def _written(figures: Figures, one: Quantity | DateSpan) -> str:
    return one.written if isinstance(one, Quantity) else figures.text[one.start : one.end]


def _shows(shown: Figures, wanted: Quantity | DateSpan) -> bool:
    return _shows_quantity(shown, wanted) if isinstance(wanted, Quantity) else _shows_date(shown, wanted)


def _shows_quantity(shown: Figures, wanted: Quantity) -> bool:
    if wanted.dimension == "rank" and wanted.low <= 2:
        return True  # "first" counts nothing in most sentences
    if any(_is_shown_by(one, wanted) for one in shown.quantities):
        return True
    ends = {one.low for one in shown.quantities if one.dimension == wanted.dimension}
    if wanted.low != wanted.high and {wanted.low, wanted.high} <= ends:
        return True
    years = (moment.first[0] for moment in shown.moments)
    return wanted.dimension in {"count", "name"} and any(year == wanted.low for year in years)


def _is_shown_by(one: Quantity, wanted: Quantity) -> bool:
    kinds = {wanted.dimension, one.dimension}
    if kinds <= {
        "count",
        "name",
        "rank",
    }:  # which of them it is, only the neighbours say, and they may differ
        kinds = {"count"}
    if len(kinds) > 1:
        return False
    if wanted.low == wanted.high and wanted.low in {one.low, one.high} - {inf, -inf}:
        return True
    return one.agreement(wanted) is Agreement.EQUAL or (
        one.agreement(wanted) is Agreement.NEAR
        and (one.within(wanted) or (one.step < wanted.step and not _is_range(one)))
    )


def _is_range(one: Quantity) -> bool:
    """Whether it leaves open which number it is: more than 100, between 1 and 10. No exact number is shown by that."""
    return one.low == -inf or one.high == inf or one.high - one.low > 2 * one.step


def _unread(said: Figures, shown: Figures) -> list[str]:
    """Digits of the fact that were not read as a figure, within names or in other languages, which the quote lacks."""
    read = bytearray(len(said.text))
    for one in said.all:
        read[one.start : one.end] = b"\1" * (one.end - one.start)
    there = set(_CODE.findall(shown.text.casefold())) | set(_DIGITS.findall(shown.text))
    found = []
    for match in (*_CODE.finditer(said.text), *_DIGITS.finditer(said.text)):
        if not any(read[match.start() : match.end()]):
            read[match.start() : match.end()] = b"\1" * len(match.group())
            found.append(match.group())
    return [digits for digits in found if digits.casefold() not in there]


def _shows_date(shown: Figures, wanted: DateSpan) -> bool:
    if any(one.within(wanted) or _is_its_day(one, wanted) for one in shown.moments):
        return True
    return any(one.dimension in {"count", "name"} and one.low == wanted.first[0] for one in shown.quantities)


def _is_its_day(one: DateSpan, wanted: DateSpan) -> bool:
    # "4 July" is shown by "4 July 2024".
    return (
        not wanted.has_year
        and one.has_year
        and (one.first[1:], one.last[1:]) == (wanted.first[1:], wanted.last[1:])
    )
