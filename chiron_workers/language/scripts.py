import bisect
import unicodedata
from collections import Counter
from enum import StrEnum


class Script(StrEnum):
    """What letters belong to, as far as search tells them apart."""

    LATIN = "latin"
    GREEK = "greek"
    CYRILLIC = "cyrillic"
    ARMENIAN = "armenian"
    HEBREW = "hebrew"
    ARABIC = "arabic"
    DEVANAGARI = "devanagari"
    TAMIL = "tamil"
    UNSPACED = (
        "unspaced"  # Han, Kana, Hangul, Thai, Lao, Myanmar, Khmer: no spaces, or words that hold several
    )
    OTHER = "other"


# The first code point of each block, and the script of its letters up to the next.
_BLOCKS = (
    (0x0000, Script.LATIN), (0x0370, Script.GREEK), (0x0400, Script.CYRILLIC), (0x0530, Script.ARMENIAN),
    (0x0590, Script.HEBREW), (0x0600, Script.ARABIC), (0x0700, Script.OTHER), (0x0750, Script.ARABIC),
    (0x0780, Script.OTHER), (0x08A0, Script.ARABIC), (0x0900, Script.DEVANAGARI), (0x0980, Script.OTHER),
    (0x0B80, Script.TAMIL), (0x0C00, Script.OTHER), (0x0E00, Script.UNSPACED), (0x0F00, Script.OTHER),
    (0x1000, Script.UNSPACED), (0x10A0, Script.OTHER), (0x1100, Script.UNSPACED), (0x1200, Script.OTHER),
    (0x1780, Script.UNSPACED), (0x1800, Script.OTHER), (0x19E0, Script.UNSPACED), (0x1A00, Script.OTHER),
    (0x1A20, Script.UNSPACED), (0x1AB0, Script.OTHER), (0x1C80, Script.CYRILLIC), (0x1C90, Script.OTHER),
    (0x1D00, Script.LATIN), (0x1F00, Script.GREEK), (0x2000, Script.LATIN), (0x2DE0, Script.CYRILLIC),
    (0x2E00, Script.OTHER), (0x2E80, Script.UNSPACED), (0xA4D0, Script.OTHER), (0xA640, Script.CYRILLIC),
    (0xA6A0, Script.OTHER), (0xA720, Script.LATIN), (0xA800, Script.OTHER), (0xA8E0, Script.DEVANAGARI),
    (0xA900, Script.OTHER), (0xA960, Script.UNSPACED), (0xA980, Script.OTHER), (0xA9E0, Script.UNSPACED),
    (0xAA00, Script.OTHER), (0xAA60, Script.UNSPACED), (0xAA80, Script.OTHER), (0xAC00, Script.UNSPACED),
    (0xD800, Script.OTHER), (0xF900, Script.UNSPACED), (0xFB00, Script.LATIN), (0xFB1D, Script.HEBREW),
    (0xFB50, Script.ARABIC), (0xFE00, Script.OTHER), (0xFE70, Script.ARABIC), (0xFF00, Script.LATIN),
    (0xFF65, Script.UNSPACED), (0xFFE0, Script.OTHER), (0x1B000, Script.UNSPACED), (0x1B170, Script.OTHER),
    (0x20000, Script.UNSPACED), (0x32000, Script.OTHER),
)  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]


def script_of(character: str) -> Script:
    """The script of a letter or mark; of a character that is neither, anything."""
    return _BLOCKS[bisect.bisect_right(_STARTS, ord(character)) - 1][1]


def count_scripts(text: str) -> Counter[Script]:
    """How many letters of each script a text has."""
    letters = Counter(character for character in text if unicodedata.category(character)[0] == "L")
    scripts: Counter[Script] = Counter()
    for letter, count in letters.items():
        scripts[script_of(letter)] += count
    return scripts
