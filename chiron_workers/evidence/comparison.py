"""Two statements side by side: which figures fill the same slot and how they agree, which words only one has."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from chiron_workers.evidence.dates import Moment
from chiron_workers.evidence.figures import Figure, Figures, label
from chiron_workers.evidence.quantities import Agreement, Quantity
from chiron_workers.evidence.stems import stem_of
from chiron_workers.evidence.vocabulary import SILENT
from chiron_workers.evidence.wording import Statement, Word

TOPIC_SHARE = 0.6  # of the content words of both
TOPIC_WORDS = 3  # in common, at least, where one statement says more than the other
COVERED_SHARE = 0.75  # of the shorter one's words, then
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
    is_rank: bool = False
    is_which: bool = False  # a number that tells which one
    is_other_one: bool = False  # a rank, or a number behind the same name: which of them, where they differ
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
    def is_one_topic(self) -> bool:
        """Whether they share so many words that figures of one kind in them fill one slot."""
        common = len(self.one.stems & self.other.stems)
        fewer = min(len(self.one.stems), len(self.other.stems))
        return self.share >= TOPIC_SHARE or (common >= TOPIC_WORDS and common >= COVERED_SHARE * fewer)

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
    pairs: list[tuple[Figure, Figure]] = []
    left, right = list(ours), list(theirs)

    def pair(fits: Callable[[Figure, Figure], bool], *, only: bool) -> None:
        for one in tuple(left):
            fitting = [other for other in right if fits(one, other)]
            if fitting and (not only or (len(fitting) == 1 and sum(fits(o, fitting[0]) for o in left) == 1)):
                pairs.append((one, fitting[0]))
                left.remove(one)
                right.remove(fitting[0])

    if len(ours) > 1 and len(theirs) > 1:
        pair(lambda one, other: _is_labelled_alike(new, known, one, other), only=True)
    pair(lambda one, other: _agreement(one, other) is Agreement.EQUAL, only=False)
    for wanted in (Agreement.NEAR, Agreement.DIFFERENT):
        pair(
            lambda one, other, wanted=wanted: (  # type: ignore[misc]
                _is_one_kind(new, known, one, other) and _agreement(one, other) is wanted
            ),
            only=wanted is Agreement.DIFFERENT,
        )
    slots = [_slot(new, known, one, other) for one, other in pairs]
    return slots, [_written(new, one) for one in left], [_written(known, one) for one in right]


def _is_labelled_alike(new: Figures, known: Figures, one: Figure, other: Figure) -> bool:
    """Whether both are numbers of one kind and the next word is the same: 18 % chromium, 8 % chromium."""
    if isinstance(one, Moment) or isinstance(other, Moment) or one.dimension != other.dimension:
        return False
    ours, theirs = label(new.text, one)[:1], label(known.text, other)[:1]
    return bool(ours and theirs) and ours[0] not in SILENT and stem_of(ours[0]) == stem_of(theirs[0])


def _is_one_kind(new: Figures, known: Figures, one: Figure, other: Figure) -> bool:
    if isinstance(one, Moment) or isinstance(other, Moment):
        return isinstance(one, Moment) and isinstance(other, Moment)
    if one.dimension != other.dimension or one.dimension != "count":
        return one.dimension == other.dimension
    ours, theirs = _counted(new, one), _counted(known, other)
    return not ours or not theirs or bool(ours & theirs)


def _counted(figures: Figures, one: Quantity) -> frozenset[str]:
    return frozenset(stem_of(word) for word in label(figures.text, one) if word not in SILENT)


def _agreement(one: Figure, other: Figure) -> Agreement | None:
    if isinstance(one, Moment) or isinstance(other, Moment):
        if not (isinstance(one, Moment) and isinstance(other, Moment)):
            return None
        if (one.first, one.last) == (other.first, other.last):
            return Agreement.EQUAL
        return Agreement.NEAR if one.touches(other) else Agreement.DIFFERENT
    if one.dimension == other.dimension:
        return one.agreement(other)
    kinds = {one.dimension, other.dimension}
    if kinds <= {"count", "name", "times"}:  # which of them it is, only the neighbours say
        return Agreement.EQUAL if (one.low, one.high) == (other.low, other.high) else None
    if kinds & {"count", "name"}:
        return Agreement.NEAR  # one of them leaves the unit out
    is_same_number = re.findall(r"[\d.]+", one.written) == re.findall(r"[\d.]+", other.written)
    return Agreement.DIFFERENT if is_same_number or kinds not in CONVERTIBLE else Agreement.NEAR


def _slot(new: Figures, known: Figures, one: Figure, other: Figure) -> Slot:
    agreement = _agreement(one, other) or Agreement.DIFFERENT
    narrower = wider = False
    if agreement is Agreement.NEAR:
        if isinstance(one, Moment) and isinstance(other, Moment):
            narrower, wider = one.within(other), other.within(one)
        elif isinstance(one, Quantity) and isinstance(other, Quantity):
            narrower, wider = _is_narrower(one, other), _is_narrower(other, one)
    dimension = "date" if isinstance(one, Moment) else one.dimension
    return Slot(
        agreement,
        _written(new, one),
        _written(known, other),
        is_date=dimension == "date",
        is_rank=dimension == "rank",
        is_which=dimension in {"name", "rank"},
        is_other_one=dimension == "rank"
        or (dimension == "name" and _named(new, one) == _named(known, other)),
        is_narrower=narrower,
        is_wider=wider,
    )


def _named(figures: Figures, figure: Figure) -> str:
    before = figures.text[: figure.start].split()
    return stem_of(before[-1].casefold()) if before else ""


def _is_narrower(one: Quantity, other: Quantity) -> bool:
    if one.low == one.high and other.low == other.high:
        return one.step < other.step
    return other.low <= one.low and one.high <= other.high


def _written(figures: Figures, figure: Figure) -> str:
    return figure.written if isinstance(figure, Quantity) else figures.text[figure.start : figure.end]
