"""Words of a PDF that a line is drawn through, which are left out, and the texts of its figures, which are put in."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chiron_workers.documents.pdf_scripts import glyph_at
from chiron_workers.documents.scripts import image_text

LINE_HEIGHT_MAX = 2.5  # points
LINE_WIDTH_MIN = 2
OBJECTS_MAX = 20_000  # of a page; one with more is a drawing
LINES_MAX = 500
CHARS_MAX = 100_000  # of a page; one with more is no page of a book
COMPARISONS_MAX = 2_000_000  # of characters with lines
# How high a line stands above the baseline, as a share of the letters' size: lower it underlines, higher it is a rule.
HEIGHT_MIN, HEIGHT_MAX = 0.12, 0.55
PUNCTUATION = frozenset(".,;:()%+/€$£'\"“”‘’!?")
ELEMENTS_MAX = 20_000
FIGURES_MAX = 200
ALT_BYTES_MAX = 4_000
FIGURE_TYPES = ("Figure", "Formula")


@dataclass(frozen=True, slots=True)
class _Line:
    """A thin line or bar that runs across: where it begins and ends, and how high its middle stands."""

    start_x: float
    end_x: float
    y: float


def without_struck_words(text: str, pieces: list[str], page: Any, words: Any, raw: Any) -> str:
    """The text of a page without the words that a line is drawn through.

    Args:
        pieces: What is written for each letter of the text.
        page: The page, and `words` its text page.
        raw: PDFium's functions.
    """
    count = raw.FPDFText_CountChars(words)
    lines = [line for line in _lines(page, raw) if count <= CHARS_MAX and _is_over_words(line, words, raw)]
    if not lines or count * len(lines) > COMPARISONS_MAX:
        return "".join(pieces)
    codes = [raw.FPDFText_GetUnicode(words, index) for index in range(count)]
    indexes = [index for index, code in enumerate(codes) if code < 0x110000 and _is_mapped(chr(code))]
    places = [place for place, letter in enumerate(text) if _is_mapped(letter)]
    if [chr(codes[index]) for index in indexes] != [text[place] for place in places]:
        # The text is in another order than the characters, so nobody knows which is which.
        return "".join(pieces)
    struck_places = set[int]()
    for index, place in zip(indexes, places, strict=True):
        if _is_struck(index, lines, words, raw):
            struck_places.add(place)
    return _closed_up(text, pieces, struck_places)


def figure_texts(page: Any, raw: Any) -> Iterator[str]:
    """The texts that a tagged PDF has in place of the figures of a page."""
    tree = raw.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return
    try:
        count = raw.FPDF_StructTree_CountChildren(tree)
        elements = [raw.FPDF_StructTree_GetChildAtIndex(tree, n) for n in range(min(count, ELEMENTS_MAX))]
        elements.reverse()
        figures = 0
        for _ in range(ELEMENTS_MAX):
            if not elements or figures == FIGURES_MAX:
                return
            element = elements.pop()
            if not element:
                continue
            alt = _string(raw.FPDF_StructElement_GetAltText, element)
            if alt.strip() and _string(raw.FPDF_StructElement_GetType, element) in FIGURE_TYPES:
                figures += 1
                yield image_text(alt)
                continue
            count = min(raw.FPDF_StructElement_CountChildren(element), ELEMENTS_MAX)
            elements += [raw.FPDF_StructElement_GetChildAtIndex(element, n) for n in reversed(range(count))]
    finally:
        raw.FPDF_StructTree_Close(tree)


def _string(read: Any, element: Any) -> str:
    buffer = ctypes.create_string_buffer(ALT_BYTES_MAX)
    size = read(element, buffer, ALT_BYTES_MAX)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= ALT_BYTES_MAX else ""


def _lines(page: Any, raw: Any) -> Iterator[_Line]:
    count = raw.FPDFPage_CountObjects(page.raw)
    lines = 0
    start_x, bottom, end_x, top = (ctypes.c_float() for _ in range(4))
    for index in range(count if count <= OBJECTS_MAX else 0):
        shape = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(shape) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPageObj_GetBounds(shape, start_x, bottom, end_x, top) or lines == LINES_MAX:
            continue
        height, width = top.value - bottom.value, end_x.value - start_x.value
        if height <= LINE_HEIGHT_MAX and width >= max(LINE_WIDTH_MIN, 2 * height):
            lines += 1
            yield _Line(start_x.value, end_x.value, (top.value + bottom.value) / 2)


def _is_over_words(line: _Line, words: Any, raw: Any) -> bool:
    box = line.start_x, line.y + 0.1, line.end_x, line.y - 0.1
    return bool(raw.FPDFText_GetBoundedText(words, *box, None, 0) > 0)


def _is_struck(index: int, lines: list[_Line], words: Any, raw: Any) -> bool:
    glyph = glyph_at(index, words, raw)
    if glyph is None:
        return False
    middle = (glyph.start_x + glyph.end_x) / 2
    return any(
        line.start_x - 0.5 <= middle <= line.end_x + 0.5
        and HEIGHT_MIN <= (line.y - glyph.y) / glyph.size <= HEIGHT_MAX
        for line in lines
    )


def _is_mapped(letter: str) -> bool:
    return letter.isalnum() or letter in PUNCTUATION


def _closed_up(text: str, pieces: list[str], struck_places: set[int]) -> str:
    """The pieces as one text without those at some places, nor the second of two spaces between which words are struck."""
    parts = list[str]()
    is_gap = False
    for place, piece in enumerate(pieces):
        if place in struck_places:
            is_gap = True
        elif not (is_gap and piece == " " and (not parts or parts[-1].isspace())):
            is_gap = is_gap and (text[place].isspace() or not piece)
            parts.append(piece)
    return "".join(parts)
