"""Two statements side by side: which figures fill the same slot and how they agree, which words only one has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from chiron_workers.evidence.dates import Moment
from chiron_workers.evidence.figures import Figure, Figures, label
from chiron_workers.evidence.quantities import Agreement, Quantity
from chiron_workers.evidence.stems import stem_of
from chiron_workers.evidence.wording import Statement, Word

CONVERTIBLE = [
    {"time", "calendar time"},
    {"dollars", "euros", "sterling", "yen", "rupees", "yuan"},
    {"share", "percentage points"},
]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that both statements fill with a figure, in their own words."""

    agreement: Agreement
    new: str
    known: str
    is_date: bool
    is_which: bool = False  # a number that tells which one
    is_narrower: bool = False  # the new figure says the same more precisely
    is_wider: bool = False


@dataclass(frozen=True, slots=True)
class Replacement:
    """Words of the known statement for which the new one has others; the rest is the same in the same order."""

    new: tuple[Word, ...]
    known: tuple[Word, ...]
    at: int  # how many words or figures stand before it


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new statement (`one`) and a known one (`other`), with what they share and what only one of them has."""

    one: Statement
    other: Statement
    slots: tuple[Slot, ...]
    only_new: tuple[Word, ...]
    only_known: tuple[Word, ...]
    figures_only_new: tuple[str, ...]
    figures_only_known: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the content words of both that both have, 0 to 1."""
        both = len(self.one.stems | self.other.stems)
        return len(self.one.stems & self.other.stems) / both if both else 1.0

    @property
    def in_order(self) -> bool:
        """Whether the words, and the places of figures among them, are the same in the same order."""
        return self.one.order == self.other.order

    @property
    def differing(self) -> list[Slot]:
        """The slots that cannot both be filled so."""
        return [slot for slot in self.slots if slot.agreement is Agreement.DIFFERENT]

    @property
    def all_equal(self) -> bool:
        """Whether every figure of one stands in the other, in the same slot."""
        return not (self.figures_only_new or self.figures_only_known) and all(
            slot.agreement is Agreement.EQUAL for slot in self.slots
        )

    @property
    def replacement(self) -> Replacement | None:
        """The one stretch of words in which they differ, if it is one."""
        changes = [
            change
            for change in Levenshtein.opcodes(self.other.order, self.one.order)
            if change.tag != "equal"
        ]
        if not changes:
            return None
        known = slice(changes[0].src_start, changes[-1].src_end)
        new = slice(changes[0].dest_start, changes[-1].dest_end)
        if {"#n", "#d"} & {*self.other.order[known], *self.one.order[new]} or not (
            self.other.order[known] and self.one.order[new]
        ):
            return None
        return Replacement(_words(self.one, new), _words(self.other, known), known.start)


def compared(one: Statement, other: Statement) -> Comparison:
    """A new and a known statement, side by side."""
    in_order = one.order == other.order
    quantities = _paired(
        one.figures, other.figures, one.figures.quantities, other.figures.quantities, in_order
    )
    dates = _paired(one.figures, other.figures, one.figures.moments, other.figures.moments, in_order)
    return Comparison(
        one,
        other,
        (*quantities[0], *dates[0]),
        tuple(word for word in one.words if word.stem not in other.stems),
        tuple(word for word in other.words if word.stem not in one.stems),
        (*quantities[1], *dates[1]),
        (*quantities[2], *dates[2]),
    )


def _words(statement: Statement, stretch: slice) -> tuple[Word, ...]:
    before = sum(not stem.startswith("#") for stem in statement.order[: stretch.start])
    return statement.words[before : before + len(statement.order[stretch])]


def _paired(
    new: Figures, known: Figures, ours: Sequence[Figure], theirs: Sequence[Figure], in_order: bool
) -> tuple[list[Slot], list[str], list[str]]:
    if in_order and len(ours) == len(theirs):
        return [_slot(new, known, one, other) for one, other in zip(ours, theirs, strict=True)], [], []
    slots: list[Slot] = []
    left, right = list(ours), list(theirs)
    for wanted in (Agreement.EQUAL, Agreement.NEAR):
        for one in tuple(left):
            fitting = (o for o in right if _one_kind(new, known, one, o) and _agreement(one, o) is wanted)
            if (other := next(fitting, None)) is not None:
                slots.append(_slot(new, known, one, other))
                left.remove(one)
                right.remove(other)
    for one in tuple(left):
        alike = [other for other in right if _one_kind(new, known, one, other)]
        ours_alike = [o for o in left if alike and _one_kind(new, known, o, alike[0])]
        if len(alike) == 1 and len(ours_alike) == 1:
            slots.append(_slot(new, known, one, alike[0]))
            left.remove(one)
            right.remove(alike[0])
    return slots, [_written(new, one) for one in left], [_written(known, one) for one in right]


def _one_kind(new: Figures, known: Figures, one: Figure, other: Figure) -> bool:
    if isinstance(one, Moment) or isinstance(other, Moment):
        return isinstance(one, Moment) and isinstance(other, Moment)
    if one.dimension != other.dimension:
        return False
    counted = [
        stem_of(word) for word in (label(new.text, one).split(" ")[0], label(known.text, other).split(" ")[0])
    ]
    return "" in counted or counted[0] == counted[1]


def _agreement(one: Figure, other: Figure) -> Agreement:
    if isinstance(one, Moment):
        assert isinstance(other, Moment)
        if (one.first, one.last) == (other.first, other.last):
            return Agreement.EQUAL
        return Agreement.NEAR if one.touches(other) else Agreement.DIFFERENT
    assert isinstance(other, Quantity)
    if one.dimension == other.dimension:
        return one.agreement(other)
    kinds = {one.dimension, other.dimension}
    if "count" in kinds or "name" in kinds:
        return Agreement.NEAR  # one of them leaves the unit out
    is_same_number = re.findall(r"[\d.]+", one.written) == re.findall(r"[\d.]+", other.written)
    return Agreement.DIFFERENT if is_same_number or kinds not in CONVERTIBLE else Agreement.NEAR


def _slot(new: Figures, known: Figures, one: Figure, other: Figure) -> Slot:
    agreement = _agreement(one, other)
    narrower = wider = False
    if agreement is Agreement.NEAR:
        if isinstance(one, Moment) and isinstance(other, Moment):
            narrower, wider = one.within(other), other.within(one)
        elif isinstance(one, Quantity) and isinstance(other, Quantity):
            narrower, wider = _is_narrower(one, other), _is_narrower(other, one)
    return Slot(
        agreement,
        _written(new, one),
        _written(known, other),
        isinstance(one, Moment),
        not isinstance(one, Moment) and one.dimension in {"name", "rank"},
        narrower,
        wider,
    )


def _is_narrower(one: Quantity, other: Quantity) -> bool:
    if one.low == one.high and other.low == other.high:
        return one.step < other.step
    return other.low <= one.low and one.high <= other.high


def _written(figures: Figures, figure: Figure) -> str:
    return figure.written if isinstance(figure, Quantity) else figures.text[figure.start : figure.end]
