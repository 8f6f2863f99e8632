"""What a fact says in numbers, dates and negations that the quote it rests on does not say."""

import re
from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from math import inf

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.figures import Figure, Figures, plain
from chiron_workers.evidence.figures.identifiers import (
    code_at,
    codes,
    kind_of_code,
    kind_of_identifier,
    may_count,
    spelling_of_code,
)
from chiron_workers.evidence.figures.numerals import loose_numbers, read_numerals, scales_in_words
from chiron_workers.evidence.figures.quantities import Agreement, Quantity
from chiron_workers.evidence.statements.statement import Statement, parse

WORDED_MAX = 12  # above it numbers are mostly written in digits
PART_ROUNDING = Fraction(1, 200)
FIGURES_MAX = 100  # of a fact that are looked for
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_UNIT_WORD = re.compile(r"[^\W\d_]+|[%°$€£¥]")
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


def missing_figures(fact: str, quote: str, *, with_identifiers: bool = False) -> list[str]:
    """The numbers and dates of a fact, as it writes them, that its quote does not show in any notation.

    An identifier (Apollo 12, COVID-19, Article 5) is among them only where the quote has another one of its kind in its place;
    `with_identifiers` says that each has to stand there.
    """
    statement, quote_statement = parse(fact), parse(quote)
    quote_figures = quote_statement.figures
    # Units and months of other languages are not read, but numbers are.
    is_foreign = not (statement.is_english and quote_statement.is_english)
    digits = frozenset(_DIGITS.findall(quote_figures.text)) if is_foreign else frozenset()
    numbers = _bare_numbers(quote_figures) if is_foreign else frozenset()
    scales = _unread_scales(quote_figures) if is_foreign else frozenset()
    identifiers = _Identifiers(quote_figures, are_needed=with_identifiers)
    missing_parts = [
        figure.written
        for figure in statement.figures.all[:FIGURES_MAX]
        if not (_shows(quote_figures, figure) or _stands_in(digits, figure) or _counts_in(numbers, figure))
        and not (is_foreign and (_may_be_a_word(quote_figures, figure) or _is_of_scale(scales, figure)))
        and not (figure.dimension == "name" and identifiers.leave_open(statement.figures.text, figure))
    ]
    return list(dict.fromkeys([*missing_parts, *_unread(statement.figures, quote_figures, identifiers)]))


def missing_in_window(statement: str, quote: str, window: str) -> list[str]:
    """Those of `missing_figures` that do not stand in the window around a quote, nor in the quote with their unit in the window.

    The unit of a table's cell stands in its caption or its head: "Sales | 4,210" below "in millions of yen".
    """
    digits, words = set(_DIGITS.findall(plain(quote))), _unit_words(plain(window))
    return [
        figure
        for figure in missing_figures(statement, f"{window} {quote}")
        if not (_DIGITS.search(figure) and digits.issuperset(_DIGITS.findall(figure)))
        or not words >= _unit_words(figure)
    ]


def _unit_words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in _UNIT_WORD.findall(text.casefold())}


class _Identifiers:
    """Those of a quote by their kind, read when they are first needed."""

    def __init__(self, quote: Figures, *, are_needed: bool) -> None:
        self.quote = quote
        self.are_needed = are_needed

    @cached_property
    def codes(self) -> dict[str, set[str]]:
        return codes(self.quote.text)

    @cached_property
    def kinds(self) -> frozenset[str]:
        names = (figure for figure in self.quote.quantities if figure.dimension == "name")
        kinds = (kind_of_identifier(self.quote.text, name.start, name.end) for name in names)
        return frozenset((*kinds, *self.codes)) - {""}

    def leave_open(self, text: str, name: Figure) -> bool:
        """Whether a number that belongs to a name stands there as a code, or nothing else of its kind does."""
        if may_count(text, name.start, name.end):
            return False
        kind = kind_of_identifier(text, name.start, name.end)
        if spelling_of_code(kind + name.written) in self.codes.get(kind, ()):
            return True
        return not self.are_needed and kind not in self.kinds

    def lack(self, code: str) -> bool:
        """Whether a code does not stand there, but others of its kind do, unless each has to stand there."""
        rivals = self.codes.get(kind_of_code(code), set())
        return spelling_of_code(code) not in rivals and (self.are_needed or bool(rivals))


def _stands_in(digits: Collection[str], figure: Quantity | DateSpan) -> bool:
    numbers = _DIGITS.findall(figure.written)
    has_unit = figure.dimension not in {"count", "name", "rank", "date"}
    return bool(numbers) and not has_unit and all(number in digits for number in numbers)


def _bare_numbers(quote: Figures) -> frozenset[Fraction]:
    """Every number that a text of any language may show, but for those with a unit that is read."""
    counts = [figure for figure in quote.quantities if figure.dimension in {"count", "name", "rank"}]
    ends = {Fraction(end) for figure in counts for end in {figure.low, figure.high} - {inf, -inf}}
    years = {Fraction(date.first[0]) for date in quote.dates}  # 2000年前 may be 2,000 years ago
    return frozenset(ends | years | {*loose_numbers(quote.text)})


def _counts_in(numbers: Collection[Fraction], figure: Figure) -> bool:
    if isinstance(figure, DateSpan):
        return False
    if figure.dimension == "rank":
        return figure.low in numbers
    numerals = list(read_numerals(figure.written))
    return bool(numerals) and all(
        any(abs(number - numeral.value) <= numeral.step / 2 for number in numbers) for numeral in numerals
    )


def _may_be_a_word(quote: Figures, figure: Figure) -> bool:
    """Whether a quote in another language may have a word for a small number: drei, तीन. Its own numbers, if any, are read."""
    is_small = figure.dimension in {"count", "rank"} and figure.span[0] in range(WORDED_MAX + 1)
    return is_small and not any(rival.dimension == "count" for rival in quote.quantities)


def _unread_scales(quote: Figures) -> frozenset[int]:
    """Those behind numbers in words that are not read: पंद्रह हज़ार, quince mil."""
    is_read = bytearray(len(quote.text))
    for figure in quote.quantities:
        is_read[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
    return frozenset(scale for scale, start in scales_in_words(quote.text) if not is_read[start])


def _is_of_scale(scales: Collection[int], figure: Figure) -> bool:
    """Whether a number in words before one of these scales may be this one."""
    if isinstance(figure, DateSpan):
        return False
    values: list[Fraction] = [numeral.value for numeral in read_numerals(figure.written)]
    return bool(values) and all(any(scale <= value < 1000 * scale for scale in scales) for value in values)


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
    if _is_rounded_part(rival, quantity):
        return True
    return rival.agreement(quantity) is Agreement.EQUAL or (
        rival.agreement(quantity) is Agreement.NEAR
        and (rival.within(quantity) or (rival.step < quantity.step and not _is_range(rival)))
    )


def _is_rounded_part(rival: Quantity, quantity: Quantity) -> bool:
    """Whether two shares differ only since hundredths cannot say one of them: a third, 33 %."""
    shares = [share for share in (rival, quantity) if share.dimension == "share" and share.low == share.high]
    if len(shares) < 2 or not any(Fraction(share.low) % share.step for share in shares):
        return False
    return abs(Fraction(rival.low) - Fraction(quantity.low)) <= PART_ROUNDING


def _is_range(quantity: Quantity) -> bool:
    """Whether it leaves open which number it is: more than 100, between 1 and 10. No exact number is shown by that."""
    return quantity.low == -inf or quantity.high == inf or quantity.high - quantity.low > 2 * quantity.step


def _unread(fact: Figures, quote: Figures, identifiers: _Identifiers) -> list[str]:
    """Digits of the fact that were not read as a figure, within names or in other languages, which the quote lacks."""
    is_read = bytearray(len(fact.text))
    for figure in fact.all:
        is_read[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
    quote_digits = set(_DIGITS.findall(quote.text))
    missing_digits = []
    for match in _DIGITS.finditer(fact.text):
        if any(is_read[match.start() : match.end()]) or _continues_name(fact, match.start()):
            continue
        code = code_at(fact.text, match.start())
        if identifiers.lack(code) if code else match[0] not in quote_digits:
            missing_digits.append(code or match[0])
    return missing_digits


def _continues_name(fact: Figures, place: int) -> bool:
    """Whether digits go on with the number of a name: the 16 of John 3:16, the 8 of Boeing 747-8."""
    return fact.text[place - 1 : place] in {":", "/", "-"} and any(
        figure.end == place - 1 and figure.dimension == "name" for figure in fact.quantities
    )


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
