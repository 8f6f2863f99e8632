"""The characters of a page of a PDF, each with the number by which PDFium knows it, and where it stands."""

import ctypes
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, repeat
from math import hypot
from typing import Any

from chiron_workers.documents.document import import_optional

LOST_LETTER = "\ufffd"
LINE_HYPHEN = "\ufffe"  # PDFium's mark of a word that is split at a line end; its code is 2
HYPHEN_CODE = 2
PIECES_MAX = 500  # without a letter that are put in
NEIGHBOUR = 20.0, 8.0  # points in which the letter before a piece stands
# Controls but for line ends and tabs, and the mark of a hyphen.
NAMELESS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
TURN_MAX = 1e-3  # sine of the angle of upright text, times its size


@dataclass(frozen=True, slots=True)
class LostPiece:
    """A piece of text without a letter: where it begins, and how high its middle stands."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character on the page: its size, its baseline, and where it begins and ends."""

    size: float
    y: float
    start_x: float
    end_x: float


class PageText:
    """The text of a page as PDFium orders it, whose lines end in `\\r\\n`, and in U+FFFE where a word is hyphenated.

    Args:
        page: PDFium's text page. It has to stay open.
        raw: PDFium's functions.

    Attributes:
        lines_outside: How many lines stand beside the page, counted by whoever goes through the lines.
    """

    def __init__(self, page: Any, raw: Any) -> None:
        self.text: str = page.get_text_range().replace("\x02", LINE_HYPHEN)
        # PDFium's number of each character of the text.
        self.indexes = _units(self.text)
        self.handle = page.raw
        self.words = ctypes.cast(page.raw, ctypes.c_void_p)  # for quick functions
        self.raw = raw
        count = raw.FPDFText_CountChars(page.raw)
        if _length(self.text, self.indexes) != count:
            self._put_in_lost_glyphs(count)
        self._mark_nameless_glyphs()
        # Made once for a page: thousands of characters are looked at.
        self._matrix = raw.FS_MATRIX()
        self._x, self._y, self._start_x, self._end_x = (ctypes.c_double() for _ in range(4))
        self._bottom, self._top = ctypes.c_double(), ctypes.c_double()
        self._places = ctypes.byref(self._matrix), ctypes.byref(self._x), ctypes.byref(self._y)
        self._bounds = tuple(map(ctypes.byref, (self._start_x, self._end_x, self._bottom, self._top)))
        self._matrix_at, self._origin_at = quick("FPDFText_GetMatrix"), quick("FPDFText_GetCharOrigin")
        self._box_at, self._is_generated = quick("FPDFText_GetCharBox"), quick("FPDFText_IsGenerated")
        self._size_at = quick("FPDFText_GetFontSize", ctypes.c_double)
        self._weight_at = quick("FPDFText_GetFontWeight")
        self._page_bounds = page.page.get_bbox()
        self.lines_outside = 0

    def _put_in_lost_glyphs(self, count: int) -> None:
        """Write U+FFFD for the glyphs that PDFium leaves out of a text, since it has no letter for them."""
        index_of, code_of = quick("FPDFText_GetCharIndexFromTextIndex"), quick("FPDFText_GetUnicode")
        letters = dict(zip((index_of(self.words, unit) for unit in self.indexes), self.text, strict=True))
        for index in range(count):
            if index not in letters and _is_nameless(code_of(self.words, index)):
                letters[index] = LOST_LETTER
        self.indexes = sorted(letters)
        self.text = "".join(letters[index] for index in self.indexes)

    def _mark_nameless_glyphs(self) -> None:
        """Write U+FFFD for what the text has in place of glyphs without a letter: controls, and marks that are no hyphen."""
        if not NAMELESS.search(self.text):
            return
        code_of, is_hyphen = quick("FPDFText_GetUnicode"), quick("FPDFText_IsHyphen")
        letters = list(self.text)
        for match in NAMELESS.finditer(self.text):
            index = self.indexes[match.start()]
            if code_of(self.words, index) != HYPHEN_CODE or is_hyphen(self.words, index) != 1:
                letters[match.start()] = LOST_LETTER
        self.text = "".join(letters)

    def text_objects(self, stride: int) -> set[int]:
        """The handles of pieces of text that have letters: those of one character in so many."""
        object_of = quick("FPDFText_GetTextObject", ctypes.c_void_p)
        return {object_of(self.words, index) for index in self.indexes[::stride] if index >= 0} - {None}

    def put_in_lost_pieces(self, pieces: Iterable[LostPiece]) -> None:
        """Write U+FFFD for pieces of text that PDFium leaves out as a whole, where each stands."""
        nearest = quick("FPDFText_GetCharIndexAtPos")
        reach = tuple(map(ctypes.c_double, NEIGHBOUR))
        for piece in islice(pieces, PIECES_MAX):
            index = nearest(self.words, ctypes.c_double(piece.x - 1), ctypes.c_double(piece.y), *reach)
            place = self.indexes.index(index) + 1 if index >= 0 and index in self.indexes else len(self.text)
            self.text = self.text[:place] + LOST_LETTER + self.text[place:]
            self.indexes = [*self.indexes[:place], -1, *self.indexes[place:]]

    def unmapped(self) -> set[int]:
        """The places of glyphs of which nobody knows the letter."""
        errors = map(quick("FPDFText_HasUnicodeMapError"), repeat(self.words), self.indexes)
        return {place for place, error in enumerate(errors) if error == 1 and not self.text[place].isspace()}

    def size(self, place: int) -> float:
        """The size of a character; 0 for one that is turned, and for white space that PDFium made up."""
        index, matrix = self.indexes[place], self._matrix
        if (
            index < 0
            or not self._matrix_at(self.words, index, self._places[0])
            or abs(matrix.b) > TURN_MAX
            or self._is_generated(self.words, index)
        ):
            return 0
        return float(self._size_at(self.words, index) * hypot(matrix.c, matrix.d))

    def box(self, place: int) -> tuple[float, float]:
        """Where a character begins and ends, from the left."""
        self._box_at(self.words, self.indexes[place], *self._bounds)
        return self._start_x.value, self._end_x.value

    def is_outside(self, place: int) -> bool:
        """Whether a character stands where nobody sees it, beside the page."""
        page_start, bottom, page_end, top = self._page_bounds
        start_x, end_x = self.box(place)
        low, high = self._bottom.value, self._top.value
        return bool(end_x < page_start or start_x > page_end or high < bottom or low > top)

    def glyph(self, place: int) -> Glyph | None:
        """A character on the page; None for one of size 0."""
        size, index = self.size(place), self.indexes[place]
        if size <= 0 or not self._origin_at(self.words, index, *self._places[1:]):
            return None
        return Glyph(size, self._y.value, *self.box(place))

    def weight(self, place: int) -> int:
        """How bold a character is: 400 is usual, 700 is bold."""
        return int(self._weight_at(self.words, self.indexes[place]))


def _is_nameless(code: int) -> bool:
    """Whether no letter has a code: none was stated, half of a letter, or a mark."""
    return code in (0, HYPHEN_CODE, 0xFFFE, 0xFFFF) or 0xD800 <= code < 0xE000


def _length(text: str, units: Sequence[int]) -> int:
    return units[-1] + 1 + (text[-1] > "\uffff") if text else 0


def _units(text: str) -> Sequence[int]:
    """Where each character begins in UTF-16."""
    if not text or max(text) <= "\uffff":
        return range(len(text))
    places, place = [], 0
    for letter in text:
        places.append(place)
        place += 1 + (letter > "\uffff")
    return places


@cache
def quick(name: str, result: Any = ctypes.c_int) -> Callable[..., Any]:
    """A function of PDFium that takes a third of the time: its arguments are not looked at, so they have to be of ctypes or int.

    It keeps the interpreter's lock, which is what such short calls spend their time with.
    """
    function = getattr(import_optional("pypdfium2.raw"), name)
    return ctypes.PYFUNCTYPE(result)(ctypes.cast(function, ctypes.c_void_p).value or 0)
