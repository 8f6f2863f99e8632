"""What a reader leaves out of a text: each by its kind, how often, and where first; and the marks that stand in its place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

OMISSIONS_MAX = 100  # kinds of one document
PLACE_CHARS_MAX = 100


class Mark(StrEnum):
    """What stands in a text in the place of something that cannot be written there. No quote may span one."""

    SIGN = "sign"
    FORMULA = "formula"
    PICTURE = "picture without text"
    DRAWING = "drawing"
    OBJECT = "embedded object"
    FIELD = "form field"
    VALUE = "field without a value"
    CHART = "chart"
    PAGE = "page without text"
    UNKNOWN = "part that is not read"

    @property
    def text(self) -> str:
        """As it stands in a text: `[sign]`."""
        return f"[{self.value}]"


# As texts have them that were kept, whatever marks later versions add.
MARK = re.compile(rf"\[(?:{'|'.join(re.escape(mark.value) for mark in Mark)})\]")


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
        self._places.setdefault(kind, place[:PLACE_CHARS_MAX])

    def mark(self, mark: Mark, *, place: str = "") -> str:
        """Count something that a mark stands for, and give the mark."""
        self.add(mark.value, place=place)
        return mark.text

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
