"""What words and figures do not show: operators, versions, foreign dollars, capitals, a denial beside another word."""

import re
from collections import Counter

OPERATOR = re.compile(r"[!=<>≠≤≥^|&~@#]")
VERSION = re.compile(r"(?<=[A-Za-z+#][ -])v?(\d+\.\d+(?:\.\d+)*)\b(?! ?[%°])")
DOLLARS = re.compile(r"\b(A|AU|C|CA|NZ|HK|S|R|NT)\$")
CAPITALS = re.compile(r"\b[A-Z]{2,}s?\b")

DENIAL = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nobody|nothing|cannot|without|rarely|hardly)\b|n['’]t\b", re.I
)


def differ(one: str, other: str) -> bool:
    """Whether two statements whose words agree may yet say different things: `x != y`, Python 3.10, A$10, WHO."""
    return (
        any(_found(pattern, one) != _found(pattern, other) for pattern in (OPERATOR, DOLLARS))
        or len(DENIAL.findall(one)) != len(DENIAL.findall(other))
        or _versions_differ(one, other)
        or _capitals_differ(one, other)
    )


def _found(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(pattern.findall(text))


def _versions_differ(one: str, other: str) -> bool:
    """3.1 and 3.10 are one number and two versions."""
    mine, theirs = set(VERSION.findall(one)), set(VERSION.findall(other))
    return any(a != b and _number(a) == _number(b) for a in mine for b in theirs if a not in theirs)


def _capitals_differ(one: str, other: str) -> bool:
    """A name in capitals that the other has as a usual word: WHO and Who, US and us."""
    words = {text: set(re.findall(r"\b\w+\b", text)) for text in (one, other)}
    return any(
        name not in words[b] and name.lower() in {word.lower() for word in words[b]}
        for a, b in ((one, other), (other, one))
        for name in CAPITALS.findall(a)
    )


def _number(version: str) -> float:
    """The number that a version of two parts reads as; of more parts none is equal to another."""
    return float(version) if version.count(".") == 1 else float("nan")
