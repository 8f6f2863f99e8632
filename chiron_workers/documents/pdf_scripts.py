"""Raised and lowered digits in a page of a PDF, told by their size and by how high they stand beside the character before."""

import re

from chiron_workers.documents.pdf_text import Glyph, PageText
from chiron_workers.documents.scripts import SUBSCRIPTS, SUPERSCRIPTS

DIGITS = frozenset("0123456789")
CANDIDATE_RUN = re.compile(r"[0-9+\-−–,]+")
# Of the size of the character before: TeX sets 0.7 and 0.5, Word 0.65.
SIZE_SHARE_MIN, SIZE_SHARE_MAX = 0.45, 0.85
RISE_MIN, RISE_MAX = 0.12, 0.9  # of that size
FALL_MIN, FALL_MAX = 0.04, 0.5
GAP_SHARE_MAX = 0.5  # between the two
HIGH, LOW = 1, -1


def write_scripts(page: PageText) -> list[str]:
    """The letters of a page's text, with its raised and lowered digits in Unicode's own."""
    pieces = list(page.text)
    if any(digit in page.text for digit in DIGITS):
        for place, shift in _shifts(page).items():
            pieces[place] = _shifted(page.text, place, shift)
    return pieces


def _shifted(text: str, place: int, shift: int) -> str:
    letter = text[place]
    if letter == "–" and text[place - 1 : place].isdigit() and shift == HIGH:
        letter = "−"  # 10 to a negative power, set with a dash
    return letter.translate(SUPERSCRIPTS if shift == HIGH else SUBSCRIPTS)


def _shifts(page: PageText) -> dict[int, int]:
    """Which characters are raised or lowered, by their places."""
    text = page.text
    shifts: dict[int, int] = {}
    for run in CANDIDATE_RUN.finditer(text):
        first, places = run.start(), list(range(*run.span()))
        before = first - 1
        while before >= 0 and text[before] in "\r\n":  # PDFium may break the line at what stands high or low.
            before -= 1
        if before < 0 or text[before].isspace():
            before = places.pop(0)
        sizes = [size for size in map(page.size, (before, *places)) if size]
        if not sizes or min(sizes) > SIZE_SHARE_MAX * max(sizes):
            continue
        base = end = page.glyph(before)
        for place in places:
            glyph = page.glyph(place)
            if base is None or glyph is None or end is None:
                base = end = glyph
                continue
            if shift := _shift(base, end, glyph):
                shifts[place] = shift
            else:
                base = glyph
            end = glyph
    return {place: shift for place, shift in shifts.items() if text[place] != "," or place + 1 in shifts}


def _shift(base: Glyph, previous: Glyph, glyph: Glyph) -> int:
    if not SIZE_SHARE_MIN <= glyph.size / base.size <= SIZE_SHARE_MAX:
        return 0
    if abs(glyph.start_x - previous.end_x) > GAP_SHARE_MAX * base.size:
        return 0
    rise = (glyph.y - base.y) / base.size
    if RISE_MIN <= rise <= RISE_MAX:
        return HIGH
    return LOW if FALL_MIN <= -rise <= FALL_MAX else 0
