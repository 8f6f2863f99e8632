"""White space that says something: the gap that groups a number's digits stays, a wrap within Chinese or Thai text goes."""

import re

from chiron_workers.documents.document import clean

# Letters of scripts without spaces between words, and their punctuation.
SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3001-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
WRAP = re.compile(rf"(?<=[{SPACELESS}])[^\S\n]*\n[^\S\n]*(?=[{SPACELESS}])")
GAPS = "\xa0\u2009\u202f"
# Noncharacters, which no text has: they stand for these gaps while others collapse white space.
MARKS = "\ufdd1\ufdd2\ufdd3"
ENTITIES = r"&nbsp;|&thinsp;|&#160;|&#8201;|&#8239;|&#xa0;|&#x2009;|&#x202f;"
GAP = re.compile(rf"(?<=\d)(?:[{GAPS}])(?=\d\d\d(?!\d))")
GAP_IN_SOURCE = re.compile(rf"\d(?:[{GAPS}]|{ENTITIES})\d\d\d", re.IGNORECASE)
TO_MARKS, TO_GAPS = str.maketrans(GAPS, MARKS), str.maketrans(MARKS, GAPS)


def mark_gaps(text: str) -> str:
    """Put marks for the gaps within numbers, which are white space that others collapse."""
    return GAP.sub(lambda gap: gap[0].translate(TO_MARKS), text)


def unmark_gaps(text: str) -> str:
    """The gaps within numbers in place of their marks."""
    return text.translate(TO_GAPS)


def has_gaps(source: str) -> bool:
    """Whether the source of a page may have gaps within numbers."""
    return bool(GAP_IN_SOURCE.search(source))


def join_wraps(text: str) -> str:
    """Join lines that were wrapped within text of a script without spaces."""
    return text if text.isascii() else WRAP.sub("", text)


def set_line(text: str) -> str:
    """One line with single spaces; a gap within a number stays as it is."""
    return unmark_gaps(" ".join(mark_gaps(join_wraps(clean(text))).split()))
