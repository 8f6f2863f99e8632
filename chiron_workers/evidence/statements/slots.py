"""Which figures of two statements fill the same slot, and how they agree there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.figures import Figure, words_after
from chiron_workers.evidence.figures.identifiers import is_behind_kind, is_named, may_count, may_number
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS
from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import SILENT

WINDOWS = {
    "past",
    "last",
    "previous",
    "preceding",
    "next",
    "coming",
    "following",
    "first",
}  # the past 30 years
ROLES = {"by", "from", "to"}  # rose by 5 %, rose to 5 %


@dataclass(frozen=True)
class PlacedFigure:
    """A figure with the words around it."""

    figure: Figure
    text: str

    @cached_property
    def counted_stems(self) -> frozenset[str]:
        """Stems of the words behind a number, which may say what it counts."""
        if isinstance(self.figure, DateSpan):
            return frozenset()
        return frozenset(stem_of(word) for word in words_after(self.text, self.figure) if word not in SILENT)

    @cached_property
    def previous_word(self) -> str:
        """The word before it, without case."""
        words = self.text[max(0, self.figure.start - BEFORE_CHARS) : self.figure.start].split()
        return words[-1].casefold() if words else ""

    @cached_property
    def is_behind_name(self) -> bool:
        """Whether a name or a kind stands right before it and more behind: "Apollo 12 landed", and not "fixed in version 3"."""
        if not any(map(str.isalpha, self.text[self.figure.end :])):
            return False
        before = self.text[max(0, self.figure.start - BEFORE_CHARS) : self.figure.start]
        return is_named(before) or is_behind_kind(before)

    @cached_property
    def may_count(self) -> bool:
        """Whether it is read as part of a name and may be none: "In Paris 300 people died." """
        return self.figure.dimension == "name" and may_count(self.text, self.figure.start, self.figure.end)

    @cached_property
    def may_name(self) -> bool:
        """Whether it is a year right behind a name, or a number or a time that may say which one is meant."""
        figure = self.figure
        if figure.dimension in {"time", "calendar time"}:
            return self.previous_word in WINDOWS
        if figure.dimension == "count":
            return may_number(self.text, figure.start, figure.end)
        return figure.dimension == "date" and is_named(
            self.text[max(0, figure.start - BEFORE_CHARS) : figure.start]
        )

    def agreement(self, rival: "PlacedFigure") -> Agreement | None:
        """How it agrees with a figure of another statement; None where they measure different things."""
        if self.figure.dimension != rival.figure.dimension:
            return None
        return self.figure.agreement(rival.figure)  # type: ignore[arg-type]  # both are dates, or neither is

    def has_equal_value(self, rival: "PlacedFigure") -> bool:
        """Whether both say the same: 5 km, 5,000 metres."""
        figure, other = self.figure, rival.figure
        return figure.dimension == other.dimension and figure.span == other.span

    def is_of_one_kind(self, rival: "PlacedFigure") -> bool:
        """Whether both measure the same or, if they only count, may count the same."""
        if self.figure.dimension != rival.figure.dimension or self.figure.dimension != "count":
            return self.figure.dimension == rival.figure.dimension
        stems, rival_stems = self.counted_stems, rival.counted_stems
        return not stems or not rival_stems or bool(stems & rival_stems)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that both statements fill with a figure, in their own words."""

    agreement: Agreement
    new: str
    prior: str
    dimension: str
    is_identity: bool = False  # says which one where the two differ: a rank, or a number behind the same name
    may_name: bool = False  # may belong to a name: Windows 2000, "mutant 5 binds copper"

    @property
    def is_date(self) -> bool:
        """Whether it says when."""
        return self.dimension == "date"

    @property
    def is_which(self) -> bool:
        """Whether it says which one rather than how many."""
        return self.dimension in {"name", "rank"} or self.may_name


@dataclass(slots=True)
class Pairing:
    """Figures of a new and a prior statement, paired; those without a partner are left in `new` and `prior`."""

    new: list[PlacedFigure]
    prior: list[PlacedFigure]
    slots: list[Slot] = field(default_factory=list)

    def pair(
        self, fits: Callable[[PlacedFigure, PlacedFigure], bool], *, needs_one_choice: bool = False
    ) -> None:
        """Pair what fits; with `needs_one_choice`, only where nothing else would fit either."""
        for figure in tuple(self.new):
            partners = [partner for partner in self.prior if fits(figure, partner)]
            rivals = [rival for rival in self.new if partners and fits(rival, partners[0])]
            if partners and (not needs_one_choice or len(partners) == len(rivals) == 1):
                self.slots.append(_slot(figure, partners[0]))
                self.new.remove(figure)
                self.prior.remove(partners[0])


def pair_figures(new: Iterable[PlacedFigure], prior: Iterable[PlacedFigure]) -> Pairing:
    """The figures of two statements, slot by slot: first equal ones, then the only two of a kind."""
    pairs = Pairing(list(new), list(prior))
    pairs.pair(PlacedFigure.has_equal_value)
    pairs.pair(PlacedFigure.is_of_one_kind, needs_one_choice=True)
    return pairs


def _slot(new: PlacedFigure, prior: PlacedFigure) -> Slot:
    agreement = new.agreement(prior) or Agreement.DIFFERENT
    if agreement is Agreement.DIFFERENT and not _have_one_role(new.previous_word, prior.previous_word):
        agreement = Agreement.NEAR
    dimension = new.figure.dimension
    is_identity = dimension == "rank" or (
        dimension == "name"
        and stem_of(new.previous_word) == stem_of(prior.previous_word)
        and new.is_behind_name
        and prior.is_behind_name
        and not (new.may_count or prior.may_count)
    )
    may_name = new.may_name and prior.may_name
    return Slot(agreement, new.figure.written, prior.figure.written, dimension, is_identity, may_name)


def _have_one_role(word: str, rival: str) -> bool:
    """Whether the words before two figures let them be compared: not those of "rose by 5 %" and "rose to 5 %"."""
    roles = {word, rival} & ROLES
    return word == rival or not roles or ("by" not in roles and len(roles) == 1)
