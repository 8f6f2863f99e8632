"""What a reader leaves out of a text: each by its kind, how often, and where first; and the marks that stand in its place."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chiron_workers.evidence.quotes.marks import MARK, Mark

__all__ = (
    "MARK", "LeftOut", "Mark", "Omission", "Omissions", "as_rows", "describe", "from_rows", "merged", "of_lines",
)  # fmt: skip

OMISSIONS_MAX = 100  # kinds of one document
PLACE_CHARS_MAX = 100
SHOWN_KINDS = 10
# What follows the noun of a kind: the noun gets the ending of the plural, as in `pictures without text`.
NOUN_END = re.compile(r"(?= (?:without|that|of|in|with|from|behind|outside)\b)|$")


@dataclass(frozen=True, slots=True)
class Omission:
    """One kind of thing that is not in the text.

    Args:
        kind: What it is, in plain words and the singular: `comment`, `hidden row`, `picture without text`.
        count: How many there are.
        place: Where the first one is, as a person would look for it: `page 3`, `sheet Costs, row 7`. Empty: not known.
    """

    kind: str
    count: int
    place: str = ""


LeftOut = tuple[Omission, ...] | None  # of a text; None where nobody knows, as an older version has read it


@dataclass(slots=True)
class Omissions:
    """Collects what a reader leaves out while it reads."""

    _counts: dict[str, int] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, *, place: str = "", count: int = 1) -> None:
        """Count something that is left out; of a kind the first place is remembered."""
        if kind not in self._counts and len(self._counts) >= OMISSIONS_MAX:
            kind, place = Mark.UNKNOWN.value, ""
        self._counts[kind] = self._counts.get(kind, 0) + count
        # A place may be named by the file, and JSON of Postgres takes no control characters.
        self._places.setdefault(kind, "".join(filter(str.isprintable, place[:PLACE_CHARS_MAX])))

    def mark(self, mark: Mark, *, place: str = "") -> str:
        """Count something that a mark stands for, and give the mark."""
        self.add(mark.value, place=place)
        return mark.text

    def extend(self, others: "Omissions") -> None:
        """Count what another part of the document leaves out."""
        for omission in others.all():
            self.add(omission.kind, place=omission.place, count=omission.count)

    def all(self) -> tuple[Omission, ...]:
        """What was left out, in the order in which it was met."""
        return tuple(Omission(kind, count, self._places[kind]) for kind, count in self._counts.items())


def merged(parts: Iterable[tuple[Omission, ...]]) -> tuple[Omission, ...]:
    """The omissions of several parts of one document together."""
    omissions = Omissions()
    for part in parts:
        for omission in part:
            omissions.add(omission.kind, place=omission.place, count=omission.count)
    return omissions.all()


def of_lines(omissions: tuple[Omission, ...], lines: Sequence[str], *, first: int) -> tuple[Omission, ...]:
    """What concerns some lines of a text: the marks that stand in them, each with its line, and what has no place in the text.

    Args:
        first: The number of the first of the lines, counted from 1.
    """
    marks = Omissions()
    for number, line in enumerate(lines, first):
        for match in MARK.finditer(line):
            marks.add(match[0][1:-1], place=f"line {number:,}")
    mark_kinds = {mark.value for mark in Mark}
    counted = {omission.kind: omission for omission in marks.all()}
    parts = (counted.get(part.kind) if part.kind in mark_kinds else part for part in omissions)
    return tuple(part for part in parts if part is not None)


def describe(left_out: LeftOut, *, kinds_max: int = SHOWN_KINDS) -> str:
    """The omissions in words: `3 formulas (first: page 2), 1 comment`. Empty where there are none, or nobody knows."""
    if not left_out:
        return ""
    parts = [_describe(omission) for omission in left_out[:kinds_max]]
    hidden = len(left_out) - len(parts)
    more = f", and {hidden:,} other kind{'' if hidden == 1 else 's'}" if hidden else ""
    return ", ".join(parts) + more


def _describe(omission: Omission) -> str:
    place = f" ({'' if omission.count == 1 else 'first: '}{omission.place})" if omission.place else ""
    return f"{omission.count:,} {omission.kind if omission.count == 1 else _plural(omission.kind)}{place}"


def _plural(kind: str) -> str:
    return NOUN_END.sub("s", kind, count=1).replace(" that is ", " that are ")


def as_rows(left_out: LeftOut) -> str | None:
    """The omissions as JSON, as they are stored; None where nobody knows."""
    return None if left_out is None else json.dumps([asdict(omission) for omission in left_out])


def from_rows(rows: Sequence[Mapping[str, Any]] | None) -> LeftOut:
    """The omissions that are stored with a text."""
    return None if rows is None else tuple(Omission(row["kind"], row["count"], row["place"]) for row in rows)
