"""How a new statement stands to a known one that is near in meaning, as far as figures, negations and names decide it."""

from dataclasses import dataclass

from chiron_workers.evidence.comparison import Comparison, compared
from chiron_workers.evidence.quantities import Agreement
from chiron_workers.evidence.stems import opposites
from chiron_workers.evidence.vocabulary import CONDITION_OPENERS, ONE_ANSWER
from chiron_workers.evidence.wording import Word, folded, taken_apart
from chiron_workers.states import Relation

SLOT_SHARE = 0.6  # of the content words of both, from which on two figures of one kind fill the same slot


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a new statement stands to a known one, and what decided it; None: it is not decided."""

    relation: Relation | None
    reason: str


def relation(new: str, known: str) -> Verdict:
    """How `new` stands to `known`, as far as rules can tell.

    `same` needs all figures, names, negations and conditions to agree, and the words to be the same in the same order
    but for synonyms. `contradicts` needs one slot that the two fill differently. What is not plain stays undecided.
    """
    if folded(new) == folded(known):
        return Verdict(Relation.SAME, "The words are the same.")
    one, other = taken_apart(new), taken_apart(known)
    if not (one.is_english and other.is_english):
        return Verdict(None, "The rules read English only.")
    both = compared(one, other)
    for decide in (
        _opposite,
        _differing_figures,
        _negated,
        _other_name,
        _same,
        _narrower,
    ):
        verdict = decide(both)
        if verdict is not None:
            return verdict
    return Verdict(None, "The words differ in ways that rules cannot judge.")


def _is_unconditioned(both: Comparison) -> bool:
    return both.one.hedges == both.other.hedges and both.one.restrictions == both.other.restrictions


def _is_equally_negated(both: Comparison) -> bool:
    return len(both.one.negations) == len(both.other.negations)


def _opposite(both: Comparison) -> Verdict | None:
    change = both.replacement
    if change is None or len(change.new) != 1 or len(change.known) != 1:
        return None
    new, known = change.new[0].written, change.known[0].written
    if not opposites(new, known):
        return None
    if not (_is_equally_negated(both) and _is_unconditioned(both)):
        return Verdict(None, f'"{new}" against "{known}", but with other negations or conditions.')
    return Verdict(Relation.CONTRADICTS, f'"{new}" against "{known}".')


def _differing_figures(both: Comparison) -> Verdict | None:
    differing = both.differing
    if not differing:
        return None
    told = "; ".join(f"{slot.new} against {slot.known}" for slot in differing)
    if any(slot.is_which for slot in differing):
        return Verdict(None, f"They speak of different ones: {told}.")
    changed = [word for words in (both.only_new, both.only_known) for word in words[:1]]
    if len(changed) == 2:
        return Verdict(None, f'{told}, but also "{changed[0].written}" against "{changed[1].written}".')
    dates = [slot for slot in differing if slot.is_date]
    if dates and len(dates) < len(both.slots):
        return Verdict(None, f"They speak of different dates: {told}.")
    if both.share < SLOT_SHARE or not _is_equally_negated(both) or not _is_unconditioned(both):
        return Verdict(None, f"{told}, but in other words.")
    if (
        any(word.is_name for word in (*both.only_new, *both.only_known))
        or both.figures_only_new
        or both.figures_only_known
    ):
        return Verdict(None, f"{told}, but of other names or beside other figures.")
    if any(word.opener in CONDITION_OPENERS for word in (*both.only_new, *both.only_known)):
        return Verdict(None, f"{told}, but under other conditions.")
    return Verdict(Relation.CONTRADICTS, f"{told}.")


def _negated(both: Comparison) -> Verdict | None:
    if _is_equally_negated(both):
        return None
    more, fewer = sorted((both.one.negations, both.other.negations), key=len, reverse=True)
    told = f'"{more[0]}" stands in one of them only'
    if not fewer and len(more) == 1 and both.in_order and both.all_equal and _is_unconditioned(both):
        return Verdict(Relation.CONTRADICTS, f"{told}.")
    return Verdict(None, f"{told}, and other words differ.")


def _other_name(both: Comparison) -> Verdict | None:
    change = both.replacement
    if change is None or not all(word.is_name for word in (*change.new, *change.known)):
        return None
    told = f"{_listed(change.new)} against {_listed(change.known)}"
    if not (both.all_equal and _is_unconditioned(both)) or len(change.new) > 3 or len(change.known) > 3:
        return Verdict(None, f"{told}, and other words differ.")
    if change.at > 0 and both.one.stems & both.other.stems & ONE_ANSWER:
        return Verdict(Relation.CONTRADICTS, f"{told}.")
    return Verdict(None, f"{told}: both may be true.")


def _listed(words: tuple[Word, ...]) -> str:
    return " ".join(word.written for word in words)


def _same(both: Comparison) -> Verdict | None:
    one, other = both.one, both.other
    if both.in_order and both.all_equal and (one.scopes, one.particles) == (other.scopes, other.particles):
        return Verdict(Relation.SAME, "Figures, names and words agree.")
    return None


def _narrower(both: Comparison) -> Verdict | None:
    one, other = both.one, both.other
    if both.only_known or both.figures_only_known or not _is_subsequence(other.order, one.order):
        return None
    if not (other.hedges <= one.hedges and other.restrictions <= one.restrictions):
        return None
    if any(slot.agreement is Agreement.NEAR and not slot.is_narrower for slot in both.slots):
        return None
    extra = sorted((one.hedges | one.restrictions) - other.hedges - other.restrictions)
    conditions = [
        word.written for word in both.only_new if word.opener in CONDITION_OPENERS and not word.is_name
    ]
    if extra:
        return Verdict(Relation.QUALIFIES, f'The new one says "{extra[0]}".')
    if conditions:
        return Verdict(Relation.QUALIFIES, f'The new one adds a condition: "{" ".join(conditions)}".')
    near = [slot for slot in both.slots if slot.agreement is Agreement.NEAR]
    if near and not both.only_new and both.in_order:
        return Verdict(Relation.QUALIFIES, f"{near[0].new} is more precise than {near[0].known}.")
    return None


def _is_subsequence(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    rest = iter(long)
    return all(stem in rest for stem in short)
