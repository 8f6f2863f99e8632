"""What a quote may have otherwise than its page: a hyphen or space at a line's end, and marks of citations, left out."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.evidence.quotes.equivalents import LINE_BREAK
from chiron_workers.evidence.quotes.offsets import CodePoints, NormalisedText, code_points, where
from chiron_workers.evidence.quotes.typesetting import SPACELESS

if TYPE_CHECKING:
    from chiron_workers.evidence.quotes.offsets import Offsets

GAP = re.compile(f"(?<=[{SPACELESS}]) | (?=[{SPACELESS}])")
FIRST_SPACELESS = 0xE00
NUMBERS = r"[1-9]\d{0,2}(?: ?[,;-] ?[1-9]\d{0,2}){0,20}"
BRACKETS = rf"\[(?:{NUMBERS}|[a-z]|(?:note|nb|n) \d{{1,2}}|citation needed|\^[\w-]{{1,20}})\]"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
LETTER = rf"[^\W\d_{SUPERSCRIPTS}₀-₉]"
WORD_MARK = re.compile(rf"(?<=[\w.,;:!?%)\"'])(?:{BRACKETS})+(?![\w(=\[]|\.\w)")
MARK_BEHIND_GAP = re.compile(
    rf"(?<=[\w.,;:!?%)\"']) \[{NUMBERS}\](?: ?\[{NUMBERS}\])*(?=(?P<next>[ .,;:!?)]|$))"
)
WORD_BEFORE = re.compile(r"[^\W\d_]+$")
# Behind these a bracket is no mark that can be left out: in [1, 5], see [12].
PREPOSITIONS = {
    "in",
    "see",
    "ref",
    "refs",
    "from",
    "of",
    "by",
    "within",
    "over",
    "on",
    "at",
    "to",
    "and",
    "or",
    "between",
}
PREPOSITIONS |= {
    "interval",
    "range",
    "bis",
    "von",
    "zu",
    "dans",
    "de",
    "en",
    "di",
    "scale",
    "with",
    "is",
    "are",
    "the",
    "a",
}
STYLE_MIN = 3  # different numbers, from which on a page is one that cites by numbers
RAISED_MARK = re.compile(
    rf"(?:(?<={LETTER}{{5}})(?=¹|[{SUPERSCRIPTS}]..|\^)|(?<={LETTER}[.,;:!?\"])|(?<=%))"
    rf"(?:\^\({NUMBERS}\)|[{SUPERSCRIPTS}]{{1,3}}(?:[,⁻-][{SUPERSCRIPTS}]{{1,3}}){{0,20}})(?![\w^{SUPERSCRIPTS}])"
)
LENGTHS = ("meter", "metre", "mètre", "metro", "mile", "inch", "inche", "yard", "acre", "parsec")
UNITS = (
    *LENGTHS,
    "second",
    "minute",
    "hour",
    "degree",
    "newton",
    "joule",
    "pascal",
    "kelvin",
    "sigma",
    "delta",
    "arcsin",
)


@dataclass(frozen=True, slots=True)
class Omission:
    """What was taken out at one place: hyphens and spaces that may be a line end's, and marks of citations."""

    joints: str = ""
    marks: str = ""

    def suits(self, page: "Omission") -> bool:
        """Whether a quote that has this stands where the page has that: it may leave out marks, but not change them."""
        is_joint_alike = self.joints == page.joints or LINE_BREAK in (self.joints, page.joints)
        return is_joint_alike and (not self.marks or self.marks == page.marks)


NO_OMISSION = Omission()
JOINTS = {joint: Omission(joint) for joint in ("-", " ", LINE_BREAK)}


@dataclass(frozen=True, slots=True, eq=False)
class ReducedText:
    """A folded text without what a quote may have otherwise; `omissions` by the offset at which each is missed."""

    text: NormalisedText
    omissions: dict[int, Omission]
    places: list[int]

    def agrees(self, quote: "ReducedText", at: int) -> bool:
        """Whether a quote, whose reduced text stands here at an offset, differs only in what it may."""
        end = at + len(quote.text.text)
        inner = self.places[bisect_right(self.places, at) : bisect_left(self.places, end)]
        return all(
            omission.suits(self.omissions.get(at + n, NO_OMISSION)) for n, omission in quote.omissions.items()
        ) and all(
            NO_OMISSION.suits(self.omissions[place]) for place in inner if place - at not in quote.omissions
        )


def reduce_text(text: str) -> ReducedText:
    """A folded text without hyphens between letters, breaks, gaps between letters without spaces, and citation marks."""
    import numpy as np

    row = code_points(text)
    is_wanted = np.ones(len(text), bool)
    marks = sorted(_citation_marks(text))
    for start, end in marks:
        is_wanted[start:end] = False
    joints = _joints(row, text)
    joints = joints[is_wanted[joints]]
    is_wanted[joints] = False
    row.keep(is_wanted)
    offsets = np.cumsum(is_wanted) - is_wanted
    omissions: dict[int, Omission] = {}
    for at, place in zip(offsets[joints].tolist(), joints.tolist(), strict=True):
        joint = text[place]
        omissions[at] = Omission(omissions[at].joints + joint) if at in omissions else JOINTS[joint]
    for start, end in marks:
        at = int(offsets[start])
        before = omissions.get(at, NO_OMISSION)
        omissions[at] = Omission(before.joints, before.marks + text[start:end].strip())
    return ReducedText(row.folded(), omissions, sorted(omissions))


def may_be_reduced(text: str) -> bool:
    """Whether a folded text has anything that a quote may leave out."""
    return LINE_BREAK in text or next(_citation_marks(text), None) is not None


def _joints(row: CodePoints, text: str) -> "Offsets":
    """Where hyphens between letters, breaks, and gaps between letters without spaces stand, in order."""
    import numpy as np

    at = np.flatnonzero((row.codes == ord("-")) | (row.codes == ord(LINE_BREAK)))
    at = at[(at > 0) & (at + 1 < len(row.codes))]
    is_between_letters = where(row.codes[at - 1], str.isalpha) & where(row.codes[at + 1], str.isalpha)
    at = at[is_between_letters | (row.codes[at] == ord(LINE_BREAK))]
    if (row.codes > FIRST_SPACELESS).any():
        gaps = [match.start() for match in GAP.finditer(text) if 0 < match.start() < len(text) - 1]
        at = np.union1d(at, np.array(gaps, np.intp))
    return at


def _citation_marks(text: str) -> Iterator[tuple[int, int]]:
    """Where marks of citations stand that can be left out without a change of what is said, in no order."""
    if "[" in text:
        yield from (match.span() for match in WORD_MARK.finditer(text))
        matches = list(MARK_BEHIND_GAP.finditer(text))
        is_by_numbers = len({match[0] for match in matches}) >= STYLE_MIN
        for match in matches:
            word = WORD_BEFORE.search(text, max(0, match.start() - 30), match.start())
            if (match["next"] != " " or is_by_numbers) and (
                word is None or word[0].lower() not in PREPOSITIONS
            ):
                yield match.span()
    if "^" in text or any(digit in text for digit in SUPERSCRIPTS):
        for match in RAISED_MARK.finditer(text):
            word_before = WORD_BEFORE.search(text, max(0, match.start() - 30), match.start())
            if word_before is None or not word_before[0].lower().rstrip("s").endswith(UNITS):
                yield match.span()
