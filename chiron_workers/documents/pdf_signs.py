"""Glyphs of a page of a PDF whose letters nobody knows, and those of fonts of signs."""

import ctypes
from collections.abc import Iterable

from chiron_workers.documents.docx_signs import PRIVATE_LETTER, sign, sign_family
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.pdf_text import LOST_LETTER, PageText

FONT_BYTES_MAX = 200
# Of Latin-1 what Symbol has too: where a clone of it says so, that is what it shows.
SYMBOL_LATIN = frozenset("°±×÷¬µ·©®")
UNREADABLE_SHARE = 0.5  # of a page's glyphs; one with more is no text


def write_signs(
    page: PageText, pieces: list[str], fonts: Iterable[str], omissions: Omissions, *, place: str
) -> bool:
    """Write what fonts of signs show, and a mark for each run of glyphs without a letter; return whether the page is readable.

    Args:
        pieces: What is written for each letter of the text.
        fonts: The names of the fonts of the page.
        place: The page, as the list of what is left out has it.
    """
    text = page.text
    unknown = (
        {at for at, letter in enumerate(text) if letter == LOST_LETTER} if LOST_LETTER in text else set[int]()
    )
    unknown |= page.unmapped()
    has_signs = PRIVATE_LETTER.search(text) is not None or any(map(sign_font, fonts))
    if has_signs:
        unknown |= set(_write_known(page, pieces, unknown))
    if not unknown:
        return True
    omissions.add(Mark.SIGN.value, place=place, count=len(unknown))
    if len(unknown) > UNREADABLE_SHARE * sum(not letter.isspace() for letter in text):
        return False
    for at in unknown:
        # Several glyphs side by side leave one mark.
        pieces[at] = "" if at - 1 in unknown else Mark.SIGN.text
    return True


def _write_known(page: PageText, pieces: list[str], unknown: set[int]) -> Iterable[int]:
    """Write the signs of such fonts; give the places of those that nobody knows."""
    for at, letter in enumerate(page.text):
        if letter.isspace() or "\xff" < letter < "\ue000" or letter > "\uf8ff":
            continue
        font = sign_font(_font_name(page, page.indexes[at]))
        if (font and not (font == "symbol" and letter in SYMBOL_LATIN)) or letter > "\xff":
            pieces[at] = sign(ord(letter), font)
            unknown.discard(at)
            if not pieces[at]:
                yield at


def _font_name(page: PageText, index: int) -> str:
    buffer = ctypes.create_string_buffer(FONT_BYTES_MAX)
    size = page.raw.FPDFText_GetFontInfo(page.handle, index, buffer, FONT_BYTES_MAX, None)
    return buffer.value.decode("utf-8", "replace") if 0 < size <= FONT_BYTES_MAX else ""


def sign_font(name: str) -> str:
    """The family of a font of signs by its name in a PDF (`ABCDEF+Wingdings-Regular`); empty for any other font."""
    return sign_family(name.rpartition("+")[2].partition(",")[0])
