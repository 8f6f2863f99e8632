"""How a new statement stands to a known one that is near in meaning, as far as figures, negations and names decide it."""

from collections import Counter
from dataclasses import dataclass

from chiron_workers.evidence.statements import (
    contradictions,
    distinctions,
)
from chiron_workers.evidence.statements import (
    single_answer as one_answer,
)
from chiron_workers.evidence.statements import (
    symbols as signs,
)
from chiron_workers.evidence.statements.comparison import Comparison, compared
from chiron_workers.evidence.statements.statement import Statement, taken_apart
from chiron_workers.evidence.statements.stems import is_one_word
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.states import Relation

PASSIVES = [Counter(["by", *verb]) for verb in ([], ["was"], ["were"])]
SIZE_MAX = 120  # content words and figures of a statement


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a new statement stands to a known one, and what decided it; None: it is not decided."""

    relation: Relation | None
    reason: str


# The first that finds something decides.
_RULES = (
    (Relation.NEW, distinctions.other_time),
    (Relation.NEW, distinctions.other_one),
    (Relation.CONTRADICTS, contradictions.differing_figures),
    (Relation.CONTRADICTS, contradictions.opposite),
    (Relation.CONTRADICTS, contradictions.turned_around),
    (Relation.CONTRADICTS, contradictions.negation),
    (Relation.CONTRADICTS, one_answer.other_name),
    (Relation.QUALIFIES, distinctions.limit),
    (Relation.QUALIFIES, distinctions.condition),
    (Relation.NEW, distinctions.other_property),
)


def relation(new: str, known: str) -> Verdict:
    """How `new` stands to `known`, as far as rules can tell; they never see more of the world than these words.

    `same` needs all figures, names, negations and conditions to agree, and the words to be the same in the same order
    but for synonyms. `contradicts` needs one slot that the two fill differently. What is not plain stays undecided.
    """
    if _as_written(new) == _as_written(known):
        return Verdict(Relation.SAME, "The words are the same.")
    one, other = taken_apart(new), taken_apart(known)
    if not (one.is_english and other.is_english):
        return Verdict(None, "The rules read English only.")
    if max(map(_size, (one, other))) > SIZE_MAX:
        return Verdict(None, "They are too long for rules that compare single statements.")
    both = compared(one, other)
    if _is_same(both):
        if signs.differ(new, known):
            return Verdict(None, "The words agree, but not their signs, versions or capitals.")
        return Verdict(Relation.SAME, "Figures, names and words agree.")
    for found, rule in _RULES:
        if told := rule(both):
            return Verdict(found, f"{told}.")
    return Verdict(None, "The words differ in ways that rules cannot judge.")


def _as_written(statement: str) -> str:
    """The words but for the capital and the stop of a sentence; within, mW is not MW and Bar is not Bär."""
    words = " ".join(statement.split()).removesuffix(".")
    return words[:1].lower() + words[1:]


def _size(statement: Statement) -> int:
    return len(statement.order)


def _is_same(both: Comparison) -> bool:
    one, other = both.one, both.other
    if not both.all_equal:
        return False
    if not (both.in_order and (one.scopes, one.particles) == (other.scopes, other.particles)):
        return _is_same_but_for_place(both) or _is_passive_of(one, other) or _is_passive_of(other, one)
    return _are_one_word_each(one.words, other.words)


def _is_same_but_for_place(both: Comparison) -> bool:
    """Whether only the place of one number and one date differs: 330 m tall, a height of 330 m."""
    one, other = both.one, both.other
    if one.scopes or other.scopes or one.particles != other.particles or len(one.words) != len(other.words):
        return False
    if len(one.figures.quantities) > 1 or len(one.figures.moments) > 1:
        return False
    return _are_one_word_each(one.words, other.words)


def _is_passive_of(passive: Statement, active: Statement) -> bool:
    """Whether one says what was done by whom, and the other who did it: both in three parts, and nothing else."""
    if passive.scopes or active.scopes or len(active.figures.all) > 1:
        return False
    extra = Counter(passive.particles) - Counter(active.particles)
    if Counter(active.particles) - Counter(passive.particles) or extra not in PASSIVES:
        return False
    agents = tuple(word for word in passive.words if word.opener == "by")
    others = tuple(word for word in passive.words if word.opener != "by")
    if not agents or passive.words != (*others, *agents):
        return False  # something follows whoever did it
    # what was done | the verb || who did it  =>  who did it | the verb | what was done
    return _are_one_word_each((*agents, *others[-1:], *others[:-1]), active.words)


def _are_one_word_each(ours: tuple[Word, ...], theirs: tuple[Word, ...]) -> bool:
    if [word.stem for word in ours] != [word.stem for word in theirs]:
        return False
    return all(is_one_word(new.written, known.written) for new, known in zip(ours, theirs, strict=True))
