"""What a text says in numbers and dates, in a form in which 5 km and 5,000 m are equal."""

import re
from dataclasses import dataclass

from chiron_workers.evidence.figures.dates import DateSpan, read_dates
from chiron_workers.evidence.figures.measures import read_measures
from chiron_workers.evidence.figures.proportions import read_proportions
from chiron_workers.evidence.figures.quantities import Quantity

_PLAIN = str.maketrans(
    "‘’‛′“”„‟″‐‑‒–—―−\u00a0\u2007\u2009\u202f\u200a\u2002\u2003\t\n\r", '\'\'\'\'"""""-------' + " " * 10
)
_LABEL = re.compile(
    r"(?:[ -](?:of (?:the |its |his |her )?)?([a-z][a-z-]+))(?: ([a-z][a-z-]+))?(?: ([a-z][a-z-]+))?"
)


Figure = Quantity | DateSpan


@dataclass(frozen=True, slots=True)
class Figures:
    """The quantities and dates of a text in their order, and the text with plain quotation marks, dashes and spaces."""

    text: str
    quantities: tuple[Quantity, ...]
    moments: tuple[DateSpan, ...]

    @property
    def all(self) -> tuple[Figure, ...]:
        """Quantities and dates together, as they stand in the text."""
        return tuple(sorted((*self.quantities, *self.moments), key=lambda figure: figure.start))


def plain(text: str) -> str:
    """The text, letter for letter, with typographic quotation marks, dashes, minus signs and spaces in plain ones."""
    return text.translate(_PLAIN)


def read_figures(text: str) -> Figures:
    """Every number and every date of a text."""
    text = plain(text)
    dated = tuple(read_dates(text))
    taken = bytearray(len(text))
    for moment in dated:
        taken[moment.start : moment.end] = b"\1" * (moment.end - moment.start)
    found: list[Quantity] = []
    for quantity in (*read_proportions(text), *read_measures(text, dated)):
        if not any(taken[quantity.start : quantity.end]):
            found.append(quantity)
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    return Figures(text, tuple(sorted(found, key=lambda quantity: quantity.start)), dated)


def words_after(text: str, quantity: Quantity) -> tuple[str, ...]:
    """Up to three words right behind a number, the first of which often says what it counts or is a share of."""
    match = _LABEL.match(text, quantity.end)
    return tuple(word for word in match.groups() if word) if match else ()
