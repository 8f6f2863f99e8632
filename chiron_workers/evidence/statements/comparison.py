"""Two statements side by side, for the rules to decide on: paired figures, and the words that only one of them has."""

from dataclasses import dataclass

from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.statements.slots import Slot, pair_figures
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.tokens import Word

TOPIC_SHARE = 0.6  # of the content words of both
TOPIC_WORDS = 3  # in common, at least, where one statement says more than the other
COVERED_SHARE = 0.75  # of the shorter one's words, then


@dataclass(frozen=True, slots=True)
class Replacement:
    """The one stretch of words that the new statement has in place of another; all else is the same in the same order."""

    new: tuple[Word, ...]
    prior: tuple[Word, ...]
    position: int  # how many words and figures stand before it


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a new and a prior statement share, and what only one of them has."""

    new: Statement
    prior: Statement
    slots: tuple[Slot, ...]
    different_slots: tuple[Slot, ...]  # whose two figures cannot both be true
    common_stems: frozenset[str]  # the content words of both
    only_new: tuple[Word, ...]
    only_prior: tuple[Word, ...]
    unpaired_new: tuple[str, ...]  # figures
    unpaired_prior: tuple[str, ...]

    @property
    def overlap(self) -> float:
        """The share of the content words of either that both have, 0 to 1."""
        common = len(self.common_stems)
        union = len(self.new.stems) + len(self.prior.stems) - common
        return common / union if union else 1.0

    @property
    def is_one_topic(self) -> bool:
        """Whether they share so many words that figures of one kind in them fill one slot."""
        common = len(self.common_stems)
        fewer = min(len(self.new.stems), len(self.prior.stems))
        return self.overlap >= TOPIC_SHARE or (common >= TOPIC_WORDS and common >= COVERED_SHARE * fewer)

    @property
    def has_equal_figures(self) -> bool:
        """Whether every figure of one stands in the other, in the same slot."""
        return not (self.unpaired_new or self.unpaired_prior) and all(
            slot.agreement is Agreement.EQUAL for slot in self.slots
        )

    @property
    def is_equally_negated(self) -> bool:
        """Whether both deny as often: one denial more or less turns a statement around."""
        return len(self.new.negations) % 2 == len(self.prior.negations) % 2

    @property
    def is_equally_limited(self) -> bool:
        """Whether both are said as firmly, and with the same limits."""
        return self.new.limits == self.prior.limits

    @property
    def replacement(self) -> Replacement | None:
        """The one stretch of words in which they differ; None where they differ elsewhere too, or in figures."""
        from rapidfuzz.distance import Levenshtein

        opcodes = Levenshtein.opcodes(self.prior.order, self.new.order)
        changes = [change for change in opcodes if change.tag != "equal"]
        if not changes:
            return None
        prior = slice(changes[0].src_start, changes[-1].src_end)
        new = slice(changes[0].dest_start, changes[-1].dest_end)
        stems = {*self.prior.order[prior], *self.new.order[new]}
        if {"#n", "#d"} & stems or not (self.prior.order[prior] and self.new.order[new]):
            return None
        return Replacement(_words(self.new, new), _words(self.prior, prior), prior.start)


def compare(new: Statement, prior: Statement) -> Comparison:
    """Put a new and a prior statement side by side."""
    pairs = pair_figures(new.placed_figures, prior.placed_figures)
    return Comparison(
        new,
        prior,
        tuple(pairs.slots),
        tuple(slot for slot in pairs.slots if slot.agreement is Agreement.DIFFERENT),
        new.stems & prior.stems,
        tuple(word for word in new.words if word.stem not in prior.stems),
        tuple(word for word in prior.words if word.stem not in new.stems),
        tuple(placed.figure.written for placed in pairs.new),
        tuple(placed.figure.written for placed in pairs.prior),
    )


def names(words: tuple[Word, ...]) -> list[Word]:
    """Those with a capital or a digit."""
    return [word for word in words if word.is_name]


def written(words: list[Word]) -> str:
    """The words, as they are written."""
    return " ".join(word.written for word in words)


def _words(statement: Statement, stretch: slice) -> tuple[Word, ...]:
    before = sum(not stem.startswith("#") for stem in statement.order[: stretch.start])
    return statement.words[before : before + len(statement.order[stretch])]
