"""Words of a PDF that a line is drawn through, which are left out, and the texts of its figures, which are put in."""

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any

from chiron_workers.documents.pdf_objects import Line
from chiron_workers.documents.pdf_text import PageText
from chiron_workers.documents.scripts import image_text

CHARS_MAX = 100_000  # of a page; one with more is no page of a book
COMPARISONS_MAX = 2_000_000  # of characters with lines
# How high a line stands above the baseline, as a share of the letters' size: lower it underlines, higher it is a rule.
HEIGHT_MIN, HEIGHT_MAX = 0.12, 0.55
PUNCTUATION = frozenset(".,;:()%+/€$£'\"“”‘’!?")
ELEMENTS_MAX = 20_000
FIGURES_MAX = 200
ALT_BYTES_MAX = 4_000
FIGURE_TYPES = ("Figure", "Formula")


def drop_struck_words(text: PageText, pieces: list[str], lines: Iterable[Line]) -> int:
    """Take the words out of the pieces of a page's text that a line is drawn through; return how many there are.

    Args:
        pieces: What is written for each letter of the text.
        lines: The thin lines of the page.
    """
    words, raw = text.handle, text.raw
    count = len(text.text)
    lines = [line for line in lines if count <= CHARS_MAX and _is_over_words(line, words, raw)]
    if not lines or count * len(lines) > COMPARISONS_MAX:
        return 0
    struck_places = {
        place
        for place, letter in enumerate(text.text)
        if (letter.isalnum() or letter in PUNCTUATION) and _is_struck(text, place, lines)
    }
    _close_up(text.text, pieces, struck_places)
    return sum(place - 1 not in struck_places for place in struck_places)


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


def _is_over_words(line: Line, words: Any, raw: Any) -> bool:
    box = line.start_x, line.y + 0.1, line.end_x, line.y - 0.1
    return bool(raw.FPDFText_GetBoundedText(words, *box, None, 0) > 0)


def _is_struck(text: PageText, place: int, lines: list[Line]) -> bool:
    glyph = text.glyph(place)
    if glyph is None:
        return False
    middle = (glyph.start_x + glyph.end_x) / 2
    return any(
        line.start_x - 0.5 <= middle <= line.end_x + 0.5
        and HEIGHT_MIN <= (line.y - glyph.y) / glyph.size <= HEIGHT_MAX
        for line in lines
    )


def _close_up(text: str, pieces: list[str], struck_places: set[int]) -> None:
    """Empty the pieces at some places, and the second of two spaces between which words are struck."""
    last = ""
    is_gap = False
    for place, piece in enumerate(pieces):
        if place in struck_places:
            is_gap = True
            pieces[place] = ""
        elif is_gap and piece == " " and (not last or last.isspace()):
            pieces[place] = ""
        else:
            is_gap = is_gap and (text[place].isspace() or not piece)
            last = piece or last
