"""From when until when a statement is so, as far as its own words say it: "since 2019", "from 2010 to 2015"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from chiron_workers.evidence.figures.dates import DateSpan, read_dates
from chiron_workers.evidence.figures.figures import plain
from chiron_workers.evidence.quotes.sentences import sentence_breaks

STATEMENT_CHARS_MAX = 1_000
_MARK = r"\x00(\d+)\x00"  # stands for a date while the words around it are read
_PATTERNS = [
    (re.compile(rf"\b(?:from|between) {_MARK}(?: ?- ?| to | and | until | till | through ){_MARK}"), "span"),
    (re.compile(rf"\bas (?:of|at|from) {_MARK}"), "from"),
    (re.compile(rf"\bsince {_MARK}"), "from"),
    (re.compile(rf"\b(?:from|starting|beginning)(?: in| on)? {_MARK}(?= on\b| onwards?\b)"), "from"),
    (re.compile(rf"\b(?:effective|valid|in force|with effect) (?:from |on )?{_MARK}"), "from"),
    (re.compile(rf"\b(?:until|till|through)(?: the end of)? {_MARK}"), "until"),
    (re.compile(rf"\b(?:throughout|all through) {_MARK}"), "within"),
]
# What speaks of something else than the statement as a whole.
_SUBORDINATE = re.compile(
    r"\b(?:which|who|whom|whose|that|where|when|while|whereas|although|though|because|if|unless|but|before|after)\b"
)
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without)\b|n't\b")
# "Since 2019 was cold": a reason, no time.
_VERB_AFTER = re.compile(r" (?:was|were|is|are|had|has|saw|brought|became)\b")


@dataclass(frozen=True, slots=True)
class Validity:
    """The first and the last year, month or day at which a statement is so ("2024", "2024-03", "2024-03-15").

    None where its words do not say it. No other than these dates is meant: "2024" is no first of January.
    """

    valid_from: str | None = None
    valid_until: str | None = None

    def is_apart_from(self, other: "Validity") -> bool:
        """Whether the two end before each other begins, so that both may be true."""
        return _ends_before(self.valid_until, other.valid_from) or _ends_before(
            other.valid_until, self.valid_from
        )


ALWAYS = Validity()


@lru_cache(maxsize=1_024)
def read_validity(statement: str) -> Validity:
    """From when until when a statement is so. It reads English, one sentence, and never guesses.

    What a subordinate clause or an insertion says is not said of the whole; a date without its year, a decade, a season, a
    second span, or an end before the beginning leave it open.
    """
    if len(statement) > STATEMENT_CHARS_MAX or len(sentence_breaks(statement.strip() or ".")) > 2:
        return ALWAYS
    text, dates = _masked(plain(statement))
    ends: dict[str, set[str]] = {"from": set(), "until": set()}
    for kind, numbers in _cues(text):
        forms = [_form(dates[number]) for number in numbers]
        if "" in forms:
            return ALWAYS
        if kind != "until":
            ends["from"].add(forms[0])
        if kind != "from":
            ends["until"].add(forms[-1])
    if max(map(len, ends.values())) > 1:
        return ALWAYS
    validity = Validity(*(next(iter(forms), None) for forms in ends.values()))
    return ALWAYS if _ends_before(validity.valid_until, validity.valid_from) else validity


def _masked(text: str) -> tuple[str, list[DateSpan]]:
    """The text in small letters with the number of a date in place of each."""
    dates = list(read_dates(text))
    numbers_by_place: dict[tuple[int, int], list[int]] = {}
    for number, date in enumerate(dates):
        numbers_by_place.setdefault((date.start, date.end), []).append(number)  # "2010-2015" are two
    for (start, end), numbers in reversed(numbers_by_place.items()):
        text = text[:start] + "-".join(f"\x00{number}\x00" for number in numbers) + text[end:]
    return text.lower(), dates


def _cues(text: str) -> Iterator[tuple[str, list[int]]]:
    read = bytearray(len(text))
    for pattern, kind in _PATTERNS:
        for match in pattern.finditer(text):
            if not any(read[match.start() : match.end()]) and _speaks_of_the_whole(text, match, kind):
                yield kind, [int(number) for number in match.groups()]
            read[match.start() : match.end()] = b"\1" * len(match[0])


def _speaks_of_the_whole(text: str, match: re.Match[str], kind: str) -> bool:
    opening = max(text.rfind(mark, 0, match.start()) for mark in ",;:(-")
    clause = text[opening + 1 : match.start()]
    is_insertion = opening >= 0 and text[match.end() : match.end() + 1] in {",", ")"} and bool(clause.strip())
    if is_insertion or _SUBORDINATE.search(clause):
        return False
    if kind == "until" and _NEGATION.search(clause):  # "did not open until 2023" is so from then on
        return False
    return not (match[0].startswith("since") and _VERB_AFTER.match(text, match.end()))


def _form(date: DateSpan) -> str:
    """The year, month or day as ISO 8601 writes it; empty for anything else, and before the year 1."""
    if date.first[0] < 1:
        return ""
    year = f"{date.first[0]:04}"
    if (date.first, date.last) == ((date.first[0], 1, 1), (date.first[0], 12, 31)):
        return year
    month = f"{year}-{date.first[1]:02}"
    if date.first == date.last:
        return f"{month}-{date.first[2]:02}"
    return month if date.first[:2] == date.last[:2] and date.first[2] == 1 else ""


def _ends_before(until: str | None, start: str | None) -> bool:
    """Whether one date is wholly before another; what lies within the other is not before it."""
    return bool(until and start) and (until or "") < (start or "")[: len(until or "")]
