"""Raised and lowered digits in a page of a PDF, told by their size and by how high they stand beside the character before."""

import ctypes
from dataclasses import dataclass
from math import hypot
from typing import Any

from chiron_workers.documents.scripts import SUBSCRIPTS, SUPERSCRIPTS

DIGITS = frozenset("0123456789")
CANDIDATES = DIGITS | frozenset("+-−–,")
# Of the size of the character before: TeX sets 0.7 and 0.5, Word 0.65.
SIZE_SHARE_MIN, SIZE_SHARE_MAX = 0.45, 0.85
RISE_MIN, RISE_MAX = 0.12, 0.9  # of that size
FALL_MIN, FALL_MAX = 0.04, 0.5
GAP_SHARE_MAX = 0.5  # between the two
HIGH, LOW = 1, -1


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character on the page: its size, its baseline, and where it begins and ends."""

    size: float
    y: float
    start_x: float
    end_x: float


def write_scripts(text: str, words: Any, raw: Any) -> list[str]:
    """The letters of a page's text, with its raised and lowered digits in Unicode's own; some are empty.

    Args:
        words: The page's text page.
        raw: PDFium's functions.
    """
    if not any(digit in text for digit in DIGITS):
        return list(text)
    codes = [raw.FPDFText_GetUnicode(words, index) for index in range(raw.FPDFText_CountChars(words))]
    letters = [chr(code) if code < 0x110000 else "\ufffd" for code in codes]
    indexes = [index for index, letter in enumerate(letters) if letter in CANDIDATES]
    places = [place for place, letter in enumerate(text) if letter in CANDIDATES]
    if [letters[index] for index in indexes] != [text[place] for place in places]:
        return list(text)  # The text is in another order than the characters, so nobody knows which is which.
    shifts = _shifts(letters, indexes, words, raw)
    pieces = list(text)
    for index, place in zip(indexes, places, strict=True):
        if index in shifts:
            pieces[place] = _shifted(text, place, shifts[index])
            # PDFium breaks the line behind what stands high or low; where a line ends, no space begins the next one.
            if text.startswith("\r\n ", place + 1):
                pieces[place + 1 : place + 3] = "", ""
    return pieces


def _shifted(text: str, place: int, shift: int) -> str:
    letter = text[place]
    if letter == "–" and text[place - 1 : place].isdigit() and shift == HIGH:
        letter = "−"  # 10 to a negative power, set with a dash
    return letter.translate(SUPERSCRIPTS if shift == HIGH else SUBSCRIPTS)


def _shifts(letters: list[str], indexes: list[int], words: Any, raw: Any) -> dict[int, int]:
    """Which of the characters at `indexes` are raised or lowered."""
    shifts: dict[int, int] = {}
    runs: list[list[int]] = []
    for index in indexes:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    for run in runs:
        first = run[0]
        if not first or letters[first - 1].isspace():
            base_index, inner = first, run[1:]
        else:
            base_index, inner = first - 1, run
        base = glyph_at(base_index, words, raw)
        end = base
        for index in inner:
            glyph = glyph_at(index, words, raw)
            if base is None or glyph is None or end is None:
                base = end = glyph
                continue
            if shift := _shift(base, end, glyph):
                shifts[index] = shift
            else:
                base = glyph
            end = glyph
    return {index: shift for index, shift in shifts.items() if letters[index] != "," or index + 1 in shifts}


def _shift(base: Glyph, previous: Glyph, glyph: Glyph) -> int:
    if not SIZE_SHARE_MIN <= glyph.size / base.size <= SIZE_SHARE_MAX:
        return 0
    if abs(glyph.start_x - previous.end_x) > GAP_SHARE_MAX * base.size:
        return 0
    rise = (glyph.y - base.y) / base.size
    if RISE_MIN <= rise <= RISE_MAX:
        return HIGH
    return LOW if FALL_MIN <= -rise <= FALL_MAX else 0


def glyph_at(index: int, words: Any, raw: Any) -> Glyph | None:
    """A character of upright text; None for one that is turned, and for white space that PDFium made up."""
    matrix, x, y = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    start_x, end_x, bottom, top = (ctypes.c_double() for _ in range(4))
    has_all = (
        raw.FPDFText_GetMatrix(words, index, matrix)
        and raw.FPDFText_GetCharOrigin(words, index, x, y)
        and raw.FPDFText_GetCharBox(words, index, start_x, end_x, bottom, top)
    )
    size = raw.FPDFText_GetFontSize(words, index) * hypot(matrix.c, matrix.d)
    if not has_all or size <= 0 or abs(matrix.b) > 1e-3 or raw.FPDFText_IsGenerated(words, index):
        return None
    return Glyph(size, y.value, start_x.value, end_x.value)
