"""A text in one spelling: what only the typesetter chose is evened out, what changes the meaning is not.

Evened out are white space, what cannot be seen, quotation marks, dashes, ligatures, full-width letters, and composed
against decomposed letters. Digits, superscripts, fractions and the case of letters stay, and a minus sign is a hyphen,
never nothing.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

# Stands in a folded text where a word was broken at the end of a line: the hyphen may be the word's own or not.
BROKEN = "\xad"
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
SPACES += "\u2028\u2029\u202f\u205f\u3000"
SINGLE = "‘’‚‛′´ʹʻʼ`‹›"
DOUBLE = "“”„‟″«»ʺ〝〞"
# The minus sign is one of them: ASCII has one character for both, and copied text has whichever its font had.
HYPHENS = "‐‑‒–−﹣－⁃"
ALIKE = {**dict.fromkeys(SPACES, " "), **dict.fromkeys(SINGLE, "'"), **dict.fromkeys(DOUBLE, '"')}
ALIKE |= {**dict.fromkeys(HYPHENS, "-"), "µ": "μ"}
FULL_WIDTH = re.compile("[\uff01-\uff0f\uff1a-\uff5e]")
NARROWED = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if not 0xFF10 <= code <= 0xFF19}

UNSEEN = "\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
# Ligatures and letters of a font of their own; none of them folds to a digit.
LIGATURES = "ĲĳŉſǄ-ǌǱ-ǳẛℎﬀ-ﬆﬓ-ﬗﭐ-ﷻﹰ-ﻼ\U0001d400-\U0001d7cb"
HALF_WIDTH = "\uff61-\uffdc"
MARKS_MAX = 30  # on one letter, as in Unicode's Stream-Safe Text Format: more take quadratic time to sort


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text that knows where each of its characters stood in the original one."""

    text: str
    # For each piece that changed its length: where it begins here, and where it began and ended there. The last
    # one is the end of both texts.
    begins: "array[int]"
    began: "array[int]"
    ended: "array[int]"

    def start(self, at: int) -> int:
        """Where the original of the character `at` begins."""
        piece = bisect_right(self.begins, at) - 1
        if piece < 0:
            return at
        end = self._end(piece)
        return self.began[piece] if at < end else self.ended[piece] + at - end

    def end(self, at: int) -> int:
        """Where the original of the character before `at` ends."""
        piece = bisect_right(self.begins, at - 1) - 1
        if piece < 0:
            return at
        end = self._end(piece)
        return self.ended[piece] if at - 1 < end else self.ended[piece] + at - end

    def _end(self, piece: int) -> int:
        if piece == len(self.begins) - 1:
            return self.begins[piece]
        return self.begins[piece + 1] - (self.began[piece + 1] - self.ended[piece])


def fold(text: str) -> Folded:
    """The text in one spelling, with a way back to its own offsets. Takes time in proportion to its length."""
    return _spliced(_alike(text), _pattern(is_ascii=text.isascii()), _respelled)


def unbroken(text: str) -> Folded:
    """A folded text without the hyphens between letters, whether they are the words' own or a line end's."""
    return _spliced(text, JOINT, lambda _text, _found: "")


def joints(text: str) -> dict[int, str]:
    """Which hyphens `unbroken` takes out of a folded text, by the offset at which they are missed."""
    return {found.start() - missed: found[0] for missed, found in enumerate(JOINT.finditer(text))}


JOINT = re.compile(rf"(?<=[^\W\d_])[-{BROKEN}](?=[^\W\d_])")


def _alike(text: str) -> str:
    for letter, same in ALIKE.items():
        if letter in text:
            text = text.replace(letter, same)
    return text.translate(NARROWED) if not text.isascii() and FULL_WIDTH.search(text) else text


@cache
def _pattern(*, is_ascii: bool) -> re.Pattern[str]:
    gap = " " if is_ascii else f"[ {UNSEEN}]"
    unseen = "" if is_ascii else f"[{UNSEEN}]*+"
    hyphen = "-" if is_ascii else "[-\xad]"
    kinds = [
        rf"(?P<broken>(?<=\w){hyphen}{unseen} {gap}*+(?=\w))",
        rf"(?P<dash>{gap}*+(?:(?<= )-{{1,3}}(?= )|[—―⸺⸻]+){gap}*+|(?<=[^\W\d_])-{{2,3}}(?=[^\W\d_]))",
        rf"(?P<gap> {gap}++" + ("" if is_ascii else rf"|[{UNSEEN}]{gap}*+") + ")",
        r"(?P<pair>'')",
        r"(?P<dots>…|\.(?: \.){2,5})",
    ]
    if not is_ascii:
        marks, single = _composing()
        kinds.append(f"(?P<marks>[{marks}]{{1,{MARKS_MAX}}})")
        kinds.append(f"(?P<letter>[{single}{LIGATURES}]|[{HALF_WIDTH}]{{1,{MARKS_MAX}}})")
    return re.compile("|".join(kinds))


def _composing() -> tuple[str, str]:
    """What changes under canonical composition: what joins the character before it, and what another one replaces."""
    marks = set(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))
    single = set()
    for code in (*range(0xC0, 0xD800), *range(0xF900, 0x1F000), *range(0x2F800, 0x2FA20)):
        letter = chr(code)
        if unicodedata.combining(letter):
            marks.add(letter)
        parts = unicodedata.decomposition(letter).split()
        if len(parts) == 1:
            single.add(letter)
        elif len(parts) == 2 and parts[0][0] != "<":
            marks.add(chr(int(parts[1], 16)))
    return "".join(sorted(marks)), "".join(sorted(single))


def _respelled(text: str, found: re.Match[str]) -> str:
    start, end = found.span()
    match found.lastgroup:
        case "broken" if text[start - 1].isalpha() and text[end].islower():
            return BROKEN
        case "broken":
            return "-" if text[start] == "-" else " "
        case "dash" if text[start] == " " and text[end - 1] != " " and text[end : end + 1].isnumeric():
            return " -"  # a sign, not a pause
        case "dash":
            return " - "
        case "gap":
            return " " if " " in found[0] else ""
        case "pair":
            return '"'
        case "dots":
            return "..."
        case "letter":
            return unicodedata.normalize("NFKC", found[0])
        case _:
            return unicodedata.normalize("NFC", text[max(start - 1, 0) : end])


def _spliced(text: str, pattern: re.Pattern[str], respelled: Callable[[str, re.Match[str]], str]) -> Folded:
    pieces: list[str] = []
    begins, began, ended = array("q"), array("q"), array("q")
    at = length = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        if found.lastgroup == "marks" and start:
            start -= 1  # with the letter that they stand on
        new = respelled(text, found)
        if start < at or new == text[start:end]:
            continue
        pieces += (text[at:start], new)
        length += start - at
        begins.append(length)
        began.append(start)
        ended.append(end)
        length += len(new)
        at = end
    pieces.append(text[at:])
    begins.append(length + len(text) - at)
    began.append(len(text))
    ended.append(len(text))
    return Folded("".join(pieces), begins, began, ended)
