"""Which figures of two statements fill the same slot, and how they agree there."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from chiron_workers.evidence.figures.dates import Moment
from chiron_workers.evidence.figures.figures import Figure, Figures, label
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS
from chiron_workers.evidence.figures.quantities import Agreement, Quantity
from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import SILENT

ROLES = {"by", "from", "to"}  # rose by 5 %, rose to 5 %


@dataclass(frozen=True, slots=True)
class Placed:
    """A figure with the words around it."""

    figure: Figure
    text: str

    @property
    def dimension(self) -> str:
        """What it measures; `date` for a date."""
        return "date" if isinstance(self.figure, Moment) else self.figure.dimension

    @property
    def written(self) -> str:
        """As it stands in the text, with what bounds it."""
        figure = self.figure
        return figure.written if isinstance(figure, Quantity) else self.text[figure.start : figure.end]

    @property
    def counted(self) -> tuple[str, ...]:
        """Stems of the words behind a number, which may say what it counts."""
        if isinstance(self.figure, Moment):
            return ()
        return tuple(stem_of(word) if word not in SILENT else "" for word in label(self.text, self.figure))

    @property
    def before(self) -> str:
        """The word before it, without case."""
        words = self.text[max(0, self.figure.start - BEFORE_CHARS) : self.figure.start].split()
        return words[-1].casefold() if words else ""

    def agreement(self, other: "Placed") -> Agreement | None:
        """How it stands to a figure of another statement; None where they cannot be compared."""
        one, two = self.figure, other.figure
        if isinstance(one, Moment) or isinstance(two, Moment):
            return _agreed(one, two) if isinstance(one, Moment) and isinstance(two, Moment) else None
        if one.dimension == two.dimension:
            return one.agreement(two)
        kinds = {one.dimension, two.dimension}
        if kinds <= {"count", "name", "times"}:  # which of them it is, only the neighbours say
            return Agreement.EQUAL if (one.low, one.high) == (two.low, two.high) else None
        is_same_number = re.findall(r"[\d.]+", one.written) == re.findall(r"[\d.]+", two.written)
        return Agreement.DIFFERENT if is_same_number and not kinds & {"count", "name"} else Agreement.NEAR

    def is_one_kind(self, other: "Placed") -> bool:
        """Whether both measure the same or, if they only count, may count the same."""
        if self.dimension != other.dimension or self.dimension != "count":
            return self.dimension == other.dimension
        ours, theirs = {*self.counted} - {""}, {*other.counted} - {""}
        return not ours or not theirs or bool(ours & theirs)

    def is_labelled_alike(self, other: "Placed") -> bool:
        """Whether both measure the same and the next word is the same: 18 % chromium, 8 % chromium."""
        ours, theirs = self.counted[:1], other.counted[:1]
        return self.dimension == other.dimension and ours == theirs and ours not in {(), ("",)}


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that both statements fill with a figure, in their own words."""

    agreement: Agreement
    new: str
    known: str
    dimension: str
    is_other_one: bool = (
        False  # which of them, where the numbers differ: a rank, or a number behind the same name
    )
    is_narrower: bool = False  # the new figure says the same more precisely
    is_wider: bool = False

    @property
    def is_date(self) -> bool:
        """Whether it says when."""
        return self.dimension == "date"

    @property
    def is_rank(self) -> bool:
        """Whether it says at which place of an order: first, 3rd."""
        return self.dimension == "rank"

    @property
    def is_which(self) -> bool:
        """Whether it says which one rather than how many."""
        return self.dimension in {"name", "rank"}


@dataclass(slots=True)
class Pairing:
    """Figures of a new and a known statement, paired; what found no partner is left in `new` and `known`."""

    new: list[Placed]
    known: list[Placed]
    slots: list[Slot] = field(default_factory=list)

    def pair(self, fits: Callable[[Placed, Placed], bool], *, only: bool = False) -> None:
        """Pair what fits; with `only`, where nothing else would fit either."""
        for one in tuple(self.new):
            fitting = [other for other in self.known if fits(one, other)]
            rivals = [rival for rival in self.new if fitting and fits(rival, fitting[0])]
            if fitting and (not only or len(fitting) == len(rivals) == 1):
                self.slots.append(slot(one, fitting[0]))
                self.new.remove(one)
                self.known.remove(fitting[0])


def paired(new: Figures, known: Figures, *, in_order: bool) -> Pairing:
    """The figures of two statements, slot by slot: by place where the words around them are the same in order."""
    pairing = Pairing(_placed(new), _placed(known))
    if in_order:
        return Pairing([], [], list(map(slot, pairing.new, pairing.known)))
    if len(new.quantities) > 1 and len(known.quantities) > 1:
        pairing.pair(Placed.is_labelled_alike, only=True)
    pairing.pair(lambda one, other: one.agreement(other) is Agreement.EQUAL)
    pairing.pair(lambda one, other: one.is_one_kind(other) and one.agreement(other) is Agreement.NEAR)
    pairing.pair(Placed.is_one_kind, only=True)
    return pairing


def slot(new: Placed, known: Placed) -> Slot:
    """The slot that two figures fill."""
    agreement = new.agreement(known) or Agreement.DIFFERENT
    if agreement is Agreement.DIFFERENT and not _are_parallel(new.before, known.before):
        agreement = Agreement.NEAR
    is_near = agreement is Agreement.NEAR
    return Slot(
        agreement,
        new.written,
        known.written,
        new.dimension,
        is_other_one=new.dimension == "rank"
        or (new.dimension == "name" and stem_of(new.before) == stem_of(known.before)),
        is_narrower=is_near and _is_within(new.figure, known.figure),
        is_wider=is_near and _is_within(known.figure, new.figure),
    )


def _placed(figures: Figures) -> list[Placed]:
    found: Iterable[Figure] = figures.all
    return [Placed(figure, figures.text) for figure in found]


def _agreed(one: Moment, other: Moment) -> Agreement:
    if (one.first, one.last) == (other.first, other.last):
        return Agreement.EQUAL
    return Agreement.NEAR if one.touches(other) else Agreement.DIFFERENT


def _are_parallel(one: str, other: str) -> bool:
    roles = {one, other} & ROLES
    return one == other or not roles or ("by" not in roles and len(roles) == 1)


def _is_within(one: Figure, other: Figure) -> bool:
    if isinstance(one, Moment) or isinstance(other, Moment):
        return isinstance(one, Moment) and isinstance(other, Moment) and one.within(other)
    return one.within(other)
