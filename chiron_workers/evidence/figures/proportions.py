"""Numbers that are words of their own: ranks (third, 3rd), parts (two thirds of), multiples (twice)."""

import re
from collections.abc import Iterator
from fractions import Fraction

from chiron_workers.evidence.figures.cjk_numerals import read_cjk_fractions
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS, qualify
from chiron_workers.evidence.figures.quantities import Quantity
from chiron_workers.evidence.vocabulary import words

_ORDINALS = {word: n for n, word in enumerate(words("ordinals")[:12], 1)}
_ORDINAL = re.compile(
    rf"(?<![\w.-])(?:(?P<digits>\d+)(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))(?![\w])", re.I
)
_SECOND_OF = re.compile(r"\b(?:the|its|his|her|their|world's|every|was|is)[- ]$", re.I)
_FRACTION = re.compile(
    r"(?<![\w-])(?P<top>an?|one|two|three|four)?[ -]?(?P<bottom>half|third|quarter|fifth|tenth)s? "
    r"(?=of\b(?! (?:\d{4}|an hour|a century)))|"
    r"(?<![\w-])(?P<many>one|two|three|four)[ -](?P<below>third|quarter|fifth|tenth)s?\b",
    re.I,
)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_TOPS = {"one": 1, "two": 2, "three": 3, "four": 4}
_MULTIPLE = re.compile(
    r"\b(?:(?P<two>twice|double[ds]?|doubling|twofold)|(?P<three>thrice|triple[ds]?|tripling|threefold)|(?P<four>quadruple[ds]?|fourfold)|(?P<five>fivefold)|(?P<ten>tenfold))\b",
    re.I,
)
_MULTIPLES = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}


def read_proportions(text: str) -> Iterator[Quantity]:
    """Every rank, part and multiple that a text has a word for."""
    for match in _FRACTION.finditer(text):
        top = _TOPS.get((match["top"] or match["many"] or "one").lower(), 1)
        share = Fraction(top, _PARTS[(match["bottom"] or match["below"]).lower()])
        start, end = match.span()
        yield qualify(text, Quantity(share, share, Fraction(1, 100), "share", match[0].strip(), start, end))
    for share, start, end in read_cjk_fractions(text):
        yield qualify(text, Quantity(share, share, Fraction(1, 100), "share", text[start:end], start, end))
    for match in _ORDINAL.finditer(text):
        before = text[max(0, match.start() - BEFORE_CHARS) : match.start()]
        if (match["word"] or "").lower() == "second" and not _SECOND_OF.search(before):
            continue
        rank = Fraction(match["digits"]) if match["digits"] else Fraction(_ORDINALS[match["word"].lower()])
        yield Quantity(rank, rank, Fraction(1), "rank", match[0], *match.span())
    for match in _MULTIPLE.finditer(text):
        times = Fraction(_MULTIPLES[match.lastgroup or "two"])
        yield Quantity(times, times, Fraction(1), "times", match[0], *match.span())
