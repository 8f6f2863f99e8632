"""The rules that answer `contradicts`. Each gives what cannot be true on both sides, or nothing where that is not plain."""

from chiron_workers.evidence.statements.comparison import Comparison, names
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.stems import are_opposites, negates_by_prefix, stem_of
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.evidence.vocabulary import BASES, CONDITION_OPENERS, ONE_ANSWER

NEGATED_OVERLAP = 0.65  # of the content words of both, for a negation in one of them to deny the other
OTHER_WORDS_MAX = 2  # beside the names in which two statements differ


def different_figures(both: Comparison) -> str:
    """Different figures in one slot: "The tower is 330 m tall." and "The tower is 324 m tall."

    Not where the two may speak of different cases: another condition ("in children"), another base ("worldwide"),
    another number of which one (Apollo 11), or another date beside a number, which may have changed since.
    """
    slots = both.different_slots
    if not slots or any(slot.is_which for slot in slots) or not both.is_one_topic:
        return ""
    if any(slot.is_date for slot in slots) and any(not (slot.is_date or slot.is_rank) for slot in both.slots):
        return ""
    if both.unpaired_new and both.unpaired_known:
        return ""
    if not (both.is_equally_negated and both.is_equally_limited) or _have_different_subjects(both):
        return ""
    if any(map(_narrows, (*both.only_new, *both.only_known))):
        return ""
    return "; ".join(f"{slot.new} against {slot.known}" for slot in slots)


def opposite_words(both: Comparison) -> str:
    """One word replaced by its opposite: "invoked before the commit" and "invoked after the commit"."""
    if len(both.only_new) != 1 or len(both.only_known) != 1:
        return ""
    if not (both.has_equal_figures and both.is_equally_negated and both.is_equally_limited):
        return ""
    new, known = both.only_new[0].written, both.only_known[0].written
    # "A is older than B" and "B is younger than A" say the same, "A is legal" and "illegal is A" do not.
    is_replaced = (
        both.replacement is not None and len(both.replacement.new) == len(both.replacement.known) == 1
    )
    if not (negates_by_prefix(new, known) or (are_opposites(new, known) and is_replaced)):
        return ""
    return f'"{new}" against "{known}"'


def opposite_directions(both: Comparison) -> str:
    """From where to where, the other way round: "from the zinc to the copper" and "from the copper to the zinc"."""
    start, end = _direction(both.new)
    known_start, known_end = _direction(both.known)
    starts, ends = [*(start.keys() & known_end.keys())], [*(end.keys() & known_start.keys())]
    if not (starts and ends and both.is_equally_negated and both.is_one_topic):
        return ""
    return f'from "{start[starts[0]].written}" to "{end[ends[0]].written}" against the other way round'


def negation(both: Comparison) -> str:
    """A negation that stands in one of them only: "The drug is not effective." and "The drug is effective." """
    if both.is_equally_negated or not both.has_equal_figures or not both.is_equally_limited:
        return ""
    negated, plain = (both.new, both.known) if both.new.negations else (both.known, both.new)
    if plain.negations or both.overlap < NEGATED_OVERLAP:
        return ""
    if not negated.denied_stems or negated.denied_stems[0] not in plain.stems:
        return ""
    return f'"{negated.negations[0]}" stands in one of them only'


def different_names(both: Comparison) -> str:
    """Two names for what has only one: "The capital is Canberra." and "The capital is Sydney."

    Not where a place or an owner differs ("the largest city in Ontario"), or another noun or verb ("the first
    product", "the first customer").
    """
    new, known = names(both.only_new), names(both.only_known)
    if not (new and known and both.common_stems & set(map(stem_of, ONE_ANSWER))):
        return ""
    others = sorted((len(both.only_new) - len(new), len(both.only_known) - len(known)))
    if others[0] > 0 or others[1] > OTHER_WORDS_MAX or both.different_slots:
        return ""
    if not (both.is_equally_negated and both.is_equally_limited):
        return ""
    if not (_is_one_name(both.new, new) and _is_one_name(both.known, known)):
        return ""
    return f"{_written(new)} against {_written(known)}"


def _have_different_subjects(both: Comparison) -> bool:
    new, known = both.new.words[:1], both.known.words[:1]
    return bool({*new} & {*both.only_new} and {*known} & {*both.only_known})


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


def _written(words: list[Word]) -> str:
    return " ".join(word.written for word in words)
