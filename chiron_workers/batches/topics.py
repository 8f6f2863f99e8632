"""Topics as text: one a line, which of them show nothing, and which are the same in other letters."""

import re
import unicodedata
from collections.abc import Iterator

# `#` alone, or with white space behind it: "#1 cause", "#MeToo" and "## Part two" are topics.
COMMENT = re.compile(r"\s*#(?:\s|$)")
# Separators, controls, formats (zero-width space, soft hyphen), and combining marks without a letter.
INVISIBLE_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})
# Letters and signs for Unicode, and drawn as nothing: Hangul fillers, an empty Braille cell.
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
FINAL_PUNCTUATION = " .?!…。？！؟।"
CODE_POINTS_MAX = 5
PIECE_CHARS = 65_536  # that are taken apart at once


def text_topics(text: str) -> Iterator[tuple[str, int]]:
    """The topics of a text, one a line, each with the number of its line; comments and empty lines are left out.

    A line ends at a line feed alone: a line separator (U+2028) or a next line (U+0085) stands within a topic.
    """
    for number, line in _numbered_lines(text):
        if (topic := line.strip()) and not COMMENT.match(line):
            yield topic, number


def _numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, less many that are blank. A list of millions would hold up all other threads, so it goes in pieces."""
    start, number = 0, 1
    while start < len(text):
        end = text.find("\n", start + PIECE_CHARS) + 1 or len(text)
        piece = text[start:end]
        words = piece.lstrip()
        # Blank lines before the first words of a piece, where there may be many.
        number += piece.count("\n", 0, len(piece) - len(words))
        lines = words.rstrip().split("\n")
        yield from enumerate(lines, number)
        number += words.count("\n")
        start = end


def invisible_characters(text: str) -> str:
    """The code points of a text that shows nothing, such as "U+200B, U+FEFF"; empty if a character of it can be seen."""
    if any(map(_is_visible, text)):
        return ""
    points = [f"U+{ord(character):04X}" for character in dict.fromkeys(text)]
    return ", ".join([*points[:CODE_POINTS_MAX], *(["…"] if len(points) > CODE_POINTS_MAX else [])])


def comparable(topic: str) -> str:
    """What two topics share that read alike: without case, spacing, final punctuation and characters that cannot be seen."""
    text = topic if topic.isascii() else "".join(filter(_is_kept, unicodedata.normalize("NFC", topic)))
    words = " ".join(text.split()).casefold()
    return words.rstrip(FINAL_PUNCTUATION) or words


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in INVISIBLE_CATEGORIES and character not in BLANK_LETTERS


def _is_kept(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) != "Cf"
