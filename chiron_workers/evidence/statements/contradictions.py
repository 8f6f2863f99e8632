"""The rules that answer `contradicts`. Each gives what cannot be true on both sides, or nothing where that is not plain."""

from chiron_workers.evidence.statements.comparison import Comparison, names, written
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.stems import are_opposites, negates_by_prefix, stem_of
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.evidence.vocabulary import BASES, CONDITION_OPENERS, ONE_ANSWER

NEGATED_OVERLAP = 0.65  # of the content words of both, for a negation in one of them to deny the other
OTHER_WORDS_MAX = 2  # beside the names in which two statements differ


def different_figures(comparison: Comparison) -> str:
    """Different figures in one slot: "The tower is 330 m tall." and "The tower is 324 m tall."

    Not where the two may speak of different cases: another condition ("in children"), another base ("worldwide"),
    another number of which one (Apollo 11), or another date beside a number, which may have changed since.
    """
    slots = comparison.different_slots
    if not slots or any(slot.is_which for slot in slots) or not comparison.is_one_topic:
        return ""
    if any(slot.is_date for slot in slots) and any(
        slot.dimension not in ("date", "rank") for slot in comparison.slots
    ):
        return ""
    if comparison.unpaired_new and comparison.unpaired_prior:
        return ""
    if not (comparison.is_equally_negated and comparison.is_equally_limited):
        return ""
    new, prior = comparison.new.words[:1], comparison.prior.words[:1]
    if {*new} & {*comparison.only_new} and {*prior} & {*comparison.only_prior}:  # different subjects
        return ""
    if any(map(_narrows, (*comparison.only_new, *comparison.only_prior))):
        return ""
    return "; ".join(f"{slot.new} against {slot.prior}" for slot in slots)


def opposite_words(comparison: Comparison) -> str:
    """One word replaced by its opposite: "invoked before the commit" and "invoked after the commit"."""
    if len(comparison.only_new) != 1 or len(comparison.only_prior) != 1:
        return ""
    if not (comparison.has_equal_figures and comparison.is_equally_negated and comparison.is_equally_limited):
        return ""
    new, prior = comparison.only_new[0].written, comparison.only_prior[0].written
    # "A is older than B" and "B is younger than A" say the same, "A is legal" and "illegal is A" do not.
    change = comparison.replacement
    is_replaced = change is not None and len(change.new) == len(change.prior) == 1
    if not (negates_by_prefix(new, prior) or (are_opposites(new, prior) and is_replaced)):
        return ""
    return f'"{new}" against "{prior}"'


def opposite_directions(comparison: Comparison) -> str:
    """From where to where, the other way round: "from the zinc to the copper" and "from the copper to the zinc"."""
    start, end = _direction(comparison.new)
    prior_start, prior_end = _direction(comparison.prior)
    starts = [stem for stem in start if stem in prior_end]
    ends = [stem for stem in end if stem in prior_start]
    if not (starts and ends and comparison.is_equally_negated and comparison.is_one_topic):
        return ""
    return f'from "{start[starts[0]].written}" to "{end[ends[0]].written}" against the other way round'


def negation(comparison: Comparison) -> str:
    """A negation that stands in one of them only: "The drug is not effective." and "The drug is effective." """
    if comparison.is_equally_negated or not comparison.has_equal_figures or not comparison.is_equally_limited:
        return ""
    denial, plain = (
        (comparison.new, comparison.prior) if comparison.new.negations else (comparison.prior, comparison.new)
    )
    if plain.negations or comparison.overlap < NEGATED_OVERLAP:
        return ""
    if not denial.denied_stems or denial.denied_stems[0] not in plain.stems:
        return ""
    return f'"{denial.negations[0]}" stands in one of them only'


def different_names(comparison: Comparison) -> str:
    """Two names for what has only one: "The capital is Canberra." and "The capital is Sydney."

    Not where a place or an owner differs ("the largest city in Ontario"), or another noun or verb ("the first
    product", "the first customer").
    """
    new, prior = names(comparison.only_new), names(comparison.only_prior)
    if not (new and prior and comparison.common_stems & set(map(stem_of, ONE_ANSWER))):
        return ""
    word_counts = sorted((len(comparison.only_new) - len(new), len(comparison.only_prior) - len(prior)))
    if word_counts[0] > 0 or word_counts[1] > OTHER_WORDS_MAX or comparison.different_slots:
        return ""
    if not (comparison.is_equally_negated and comparison.is_equally_limited):
        return ""
    if not (_is_one_name(comparison.new, new) and _is_one_name(comparison.prior, prior)):
        return ""
    return f"{written(new)} against {written(prior)}"


def _narrows(word: Word) -> bool:
    """Whether a word says in which case, or of what, a number is taken."""
    return word.written in BASES or (word.opener in CONDITION_OPENERS and word.opener != word.written)


def _direction(statement: Statement) -> tuple[dict[str, Word], dict[str, Word]]:
    start = {word.stem: word for word in statement.words if word.opener == "from"}
    end = {word.stem: word for word in statement.words if word.opener == "to"}
    return (
        {stem: word for stem, word in start.items() if stem not in end},
        {stem: word for stem, word in end.items() if stem not in start},
    )


def _is_one_name(statement: Statement, words: list[Word]) -> bool:
    """Whether words stand side by side, and not behind a preposition that would make them a place or an owner."""
    places = [statement.words.index(word) for word in words]
    return places[-1] - places[0] < len(places) and {word.opener for word in words} <= {"", "by"}
