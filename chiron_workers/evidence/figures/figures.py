"""What a text says in numbers and dates, in a form in which 5 km and 5,000 m are equal."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from chiron_workers.evidence.figures.dates import DateSpan, read_dates
from chiron_workers.evidence.figures.measures import read_measures
from chiron_workers.evidence.figures.proportions import read_proportions
from chiron_workers.evidence.figures.quantities import Quantity

_PLAIN = str.maketrans(
    "‘’‛′“”„‟″‐‑‒–—―−\u00a0\u2007\u2009\u202f\u200a\u2002\u2003\t\n\r", '\'\'\'\'"""""-------' + " " * 10
)
# Digits of every script; full-width letters and signs; the signs of Arabic. A comma of Chinese parts clauses, too.
_SIGNS_OF_SCRIPTS = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "，．：；？！（）"}
    | {"٪": "%", "﹪": "%", "٫": ".", "٬": ","}
)
_GROUPS_OF_THREE = re.compile(r"(?<![\d，،])(?:[０-９]{1,3}(?:，[０-９]{3})+|\d{1,3}(?:،\d{3})+)(?!\d)")
_WIDE_POINT = re.compile("(?<=[０-９])．(?=[０-９])")
_COMMAS = str.maketrans("，،", ",,")
_LABEL = re.compile(
    r"(?:[ -](?:of (?:the |its |his |her )?)?([a-z][a-z-]+))(?: ([a-z][a-z-]+))?(?: ([a-z][a-z-]+))?"
)


Figure = Quantity | DateSpan


@dataclass(frozen=True)
class Figures:
    """The quantities and dates of a text in their order, and the text with plain quotation marks, dashes and spaces."""

    text: str
    quantities: tuple[Quantity, ...]
    dates: tuple[DateSpan, ...]

    @cached_property
    def all(self) -> tuple[Figure, ...]:
        """Quantities and dates together, as they stand in the text."""
        return tuple(sorted((*self.quantities, *self.dates), key=lambda figure: figure.start))


def plain(text: str) -> str:
    """The text, letter for letter, with plain quotation marks, dashes and spaces, and the digits of any script as 0 to 9."""
    text = text.translate(_PLAIN)
    if text.isascii():
        return text
    text = _WIDE_POINT.sub(".", _GROUPS_OF_THREE.sub(lambda match: match[0].translate(_COMMAS), text))
    text = text.translate(_SIGNS_OF_SCRIPTS)
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


def read_figures(text: str) -> Figures:
    """Every number and every date of a text."""
    text = plain(text)
    dates = tuple(read_dates(text))
    is_read = bytearray(len(text))
    for date in dates:
        is_read[date.start : date.end] = b"\1" * (date.end - date.start)
    quantities: list[Quantity] = []
    for quantity in (*read_proportions(text), *read_measures(text, dates)):
        if not any(is_read[quantity.start : quantity.end]):
            quantities.append(quantity)
            is_read[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    return Figures(text, tuple(sorted(quantities, key=lambda quantity: quantity.start)), dates)


def words_after(text: str, quantity: Quantity) -> tuple[str, ...]:
    """Up to three words right behind a number, the first of which often says what it counts or is a share of."""
    match = _LABEL.match(text, quantity.end)
    return tuple(word for word in match.groups() if word) if match else ()
