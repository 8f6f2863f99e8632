"""Two statements side by side: which figures fill the same slot and how they agree, which words only one has."""

from dataclasses import dataclass

from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.statements.slots import Slot, paired
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.stems import opposites
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.evidence.vocabulary import CUES

TOPIC_SHARE = 0.6  # of the content words of both
TOPIC_WORDS = 3  # in common, at least, where one statement says more than the other
POWERS = {"can", "could"}  # what can be done need not be a doubt
COVERED_SHARE = 0.75  # of the shorter one's words, then


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
    def is_equally_negated(self) -> bool:
        """Whether both deny as often: one denial more or less turns a statement around."""
        return len(self.one.negations) % 2 == len(self.other.negations) % 2

    @property
    def is_equally_limited(self) -> bool:
        """Whether both are said as firmly, and with the same limits."""
        hedges = (self.one.hedges ^ self.other.hedges) - POWERS
        return not hedges and self.one.restrictions & CUES == self.other.restrictions & CUES

    @property
    def opposite_pairs(self) -> list[tuple[Word, Word]]:
        """Words of which only the new and only the known statement has one, and that deny each other."""
        return [
            (new, known)
            for new in self.only_new
            for known in self.only_known
            if opposites(new.written, known.written)
        ]

    @property
    def replacement(self) -> Replacement | None:
        """The one stretch of words in which they differ, if it is one."""
        from rapidfuzz.distance import Levenshtein

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
    ours, theirs = one.stems, other.stems
    pairing = paired(one.figures, other.figures, in_order=one.order == other.order)
    return Comparison(
        one,
        other,
        tuple(pairing.slots),
        tuple(word for word in one.words if word.stem not in theirs),
        tuple(word for word in other.words if word.stem not in ours),
        tuple(placed.written for placed in pairing.new),
        tuple(placed.written for placed in pairing.known),
    )


def _words(statement: Statement, stretch: slice) -> tuple[Word, ...]:
    before = sum(not stem.startswith("#") for stem in statement.order[: stretch.start])
    return statement.words[before : before + len(statement.order[stretch])]
