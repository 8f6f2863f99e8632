"""Which private words pages of the web make public. A page that lists all numbers of four digits makes no PIN public."""

from collections.abc import Iterable, Iterator, Set
from datetime import date
from typing import NamedTuple

from chiron_workers.evidence.disclosures.common_words import is_plain_number

# Of all words of one shape, that pages may hold; beyond it, that a word stands there says nothing.
SHARE_MAX = 0.02
WORDS_MAX = 20_000_000  # of a shape: longer lists than a fiftieth of that fill no pages
DAYS_WITH_YEAR, DAYS_OF_CENTURY = 200 * 366, 100 * 366
FIRST_YEAR, LAST_YEAR = 1900, 2099


class Shape(NamedTuple):
    """A class of short words that a program can enumerate; `words` is the size of the class."""

    kind: str
    words: int

    @property
    def listed_words(self) -> int:
        """How many of them are a list of all."""
        return int(self.words * SHARE_MAX)


def shapes_of(word: str) -> Iterator[Shape]:
    """The shapes of a folded word, of those of which there are so few that pages can list them."""
    chars = len(word)
    if word.isdecimal():
        if chars in (6, 8) and _is_date(word):
            yield Shape(f"date of {chars}", DAYS_WITH_YEAR if chars == 8 else DAYS_OF_CENTURY)
        kind, letters = "digits", 10
    elif word.isalpha():
        kind, letters = "letters", 26
    else:
        kind, letters = "letters and digits", 36
    if letters**chars <= WORDS_MAX:
        yield Shape(f"{chars} {kind}", letters**chars)


class PublicWords:
    """Takes from private words those that pages make public, page by page."""

    def __init__(self, words: Iterable[str]) -> None:
        self._left = set(words)
        self._shapes = {word: shapes for word in self._left if (shapes := tuple(shapes_of(word)))}
        self._found = set[str]()
        self._words_by_shape: dict[Shape, set[str]] = {
            shape: set() for shapes in self._shapes.values() for shape in shapes
        }
        self._lengths = {len(word) for word in self._shapes}

    @property
    def is_settled(self) -> bool:
        """Whether no further page changes anything."""
        return not self._left

    def add_page(self, words: Set[str]) -> None:
        """Take the words of a page into account."""
        self._left -= {word for word in self._left - self._shapes.keys() if word in words}
        self._found |= self._shapes.keys() & words
        for word in words if self._shapes else ():
            if len(word) in self._lengths and not (word.isdecimal() and is_plain_number(word)):
                for shape in shapes_of(word):
                    listed = self._words_by_shape.get(shape)
                    if listed is not None and len(listed) <= shape.listed_words:
                        listed.add(word)

    def private_words(self) -> set[str]:
        """What is not public: it stands on no page, or so many of its shape do that they are a list."""
        return {word for word in self._left if word not in self._found or self._is_listed(word)}

    def _is_listed(self, word: str) -> bool:
        return any(len(self._words_by_shape[shape]) > shape.listed_words for shape in self._shapes[word])


def _is_date(digits: str) -> bool:
    """Whether digits are a day in some order; a year of two digits is one of this century's."""
    if len(digits) == 8:
        orders = ((digits[:4], digits[4:6], digits[6:]), (digits[4:], digits[2:4], digits[:2]),
                  (digits[4:], digits[:2], digits[2:4]))  # fmt: skip
        return any(_is_day(*order) for order in orders)
    first, second, third = digits[:2], digits[2:4], digits[4:]
    return any(
        _is_day(f"20{year}", month, day)
        for year, month, day in ((first, second, third), (third, second, first), (third, first, second))
    )


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return FIRST_YEAR <= int(year) <= LAST_YEAR
