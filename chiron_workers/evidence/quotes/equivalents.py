"""Which characters are one and the same to a reader. None becomes or loses a digit, and a minus sign is a hyphen.

Digits of full width are digits; those of other scripts and of mathematical fonts are themselves.
"""

import unicodedata
from functools import cache
from itertools import chain
from typing import Any

# Stands in a folded text where a word was broken at the end of a line: the hyphen may be the word's own or not.
LINE_BREAK = "\xad"
# A pause, with or without white space around it: an em dash, a hyphen between two spaces, two hyphens.
PAUSE = "—"
PAUSES = "—―⸺⸻"
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
SPACES += "\u2028\u2029\u202f\u205f\u3000"
SINGLE = "‘’‚‛′´ʹʻʼ`‹›＇"
DOUBLE = "“”„‟″«»ʺ〝〞＂"
# The minus sign is one of them: ASCII has one character for both, and copied text has whichever its font had.
HYPHENS = "‐‑‒–−﹣－⁃"
UNSEEN = (
    0x34F,
    0x61C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    0x2060,
    *range(0x2066, 0x206A),
)
UNSEEN += (*range(0xFE00, 0xFE10), 0xFEFF, 0xFFFE, *range(0xE0100, 0xE01F0))

# Ligatures, Arabic and half-width forms, and the letters (not the digits) of mathematical fonts.
LIGATURES = (0x132, 0x133, 0x149, 0x17F, 0x1E9B, 0x210E, *range(0x1C4, 0x1CD), *range(0x1F1, 0x1F4))
LIGATURES += (*range(0xFB00, 0xFB18), *range(0xFB50, 0xFDFC), *range(0xFE70, 0xFEFD), *range(0xFF61, 0xFFDD))
LIGATURES += tuple(range(0x1D400, 0x1D7CC))
# Everything that has a canonical decomposition stands in these blocks, Hangul syllables aside.
DECOMPOSABLE = (range(0xC0, 0x3100), range(0xA600, 0xAC00), range(0xF900, 0x1F000), range(0x2F800, 0x2FA20))
JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))


@cache
def equivalents() -> Any:
    """For each code point the one it is read as, 0 for what cannot be seen (an array of uint32)."""
    import numpy as np

    table = np.arange(0x110000, dtype=np.uint32)
    table[0] = ord("\ufffd")
    for letters, equivalent in ((SPACES, " "), (SINGLE, "'"), (DOUBLE, '"'), (HYPHENS, "-"), (PAUSES, PAUSE)):
        table[[ord(letter) for letter in letters]] = ord(equivalent)
    for code in range(0xFF01, 0xFF5F):
        if table[code] == code:
            table[code] = code - 0xFEE0
    table[ord("µ")] = ord("μ")
    table[list(UNSEEN)] = 0
    return table


@cache
def expansions() -> tuple[dict[str, str], Any]:
    """What ligatures and the doubles of other characters stand for, and for each code point whether it is one."""
    import numpy as np

    spellings = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in LIGATURES} | {"…": "..."}
    spellings |= {
        chr(code): unicodedata.normalize("NFC", chr(code))
        for code in chain(*DECOMPOSABLE)
        if chr(code) not in spellings
    }
    expanded_letters = {letter: spelt for letter, spelt in spellings.items() if letter != spelt}
    is_one = np.zeros(0x110000, bool)
    is_one[list(map(ord, expanded_letters))] = True
    return expanded_letters, is_one


@cache
def combining_marks() -> Any:
    """For each code point whether it can join the character before it, as accents do."""
    import numpy as np

    is_mark = np.zeros(0x110000, bool)
    is_mark[list(JAMO)] = True
    for code in chain(*DECOMPOSABLE):
        parts = unicodedata.decomposition(chr(code)).split()
        if unicodedata.combining(chr(code)):
            is_mark[code] = True
        elif len(parts) == 2 and parts[0][0] != "<":
            is_mark[int(parts[1], 16)] = True
    return is_mark
