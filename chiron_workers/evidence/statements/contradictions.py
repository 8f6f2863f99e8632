"""The ways in which two statements cannot both be true that figures and words alone show."""

from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.statements.comparison import Comparison
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.stems import are_prefixed, are_relative, stems
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.evidence.vocabulary import (
    BASES,
    CONDITION_OPENERS,
)

NEGATED_SHARE = 0.65  # of the content words of both, for a negation in one of them to deny the other


def differing_figures(both: Comparison) -> str:
    """What two statements of one topic say differently in figures; empty where that is not plain."""
    differing = both.differing
    dates = [slot for slot in differing if slot.is_date]
    if not differing or any(slot.is_which for slot in differing) or not both.is_one_topic:
        return ""
    if dates and not _is_another_date(both):
        return ""
    if both.figures_only_new and both.figures_only_known:
        return ""
    if not (both.is_equally_negated and both.is_equally_limited) or _have_other_subjects(both):
        return ""
    if _names(both.only_new) and _names(both.only_known):
        return ""
    if any(word.written in BASES for word in (*both.only_new, *both.only_known)):
        return ""
    if _conditions(both.only_new) or _conditions(both.only_known) or both.opposite_pairs:
        return ""
    return "; ".join(f"{slot.new} against {slot.known}" for slot in differing)


def negation(both: Comparison) -> str:
    """The word by which one statement denies the other; empty where that is not plain."""
    if both.is_equally_negated or not both.all_equal or not both.is_equally_limited:
        return ""
    negated, plain = (both.one, both.other) if len(both.one.negations) == 1 else (both.other, both.one)
    if len(negated.negations) != 1 or plain.negations or "until" in negated.restrictions:
        return ""
    if not negated.denied or negated.denied[0] not in plain.stems or both.opposite_pairs:
        return ""
    covered = not both.only_new or not both.only_known
    common = len(both.one.stems & both.other.stems)
    if both.share >= NEGATED_SHARE or (covered and common >= 3):
        return f'"{negated.negations[0]}" stands in one of them only'
    return ""


def opposite(both: Comparison) -> str:
    """Two words that deny each other, in statements that else agree; empty where there are none."""
    pairs = both.opposite_pairs
    if len(pairs) != 1 or not both.all_equal or not both.is_equally_negated or not both.is_equally_limited:
        return ""
    [(new, known)] = pairs
    told = f'"{new.written}" against "{known.written}"'
    is_only_change = len(both.only_new) == len(both.only_known) == 1
    if is_only_change and (both.replacement is not None or not are_relative(new.written, known.written)):
        return told
    common = len(both.one.stems & both.other.stems)
    return told if are_prefixed(new.written, known.written) and common >= 2 and both.share >= 0.4 else ""


def turned_around(both: Comparison) -> str:
    """From where to where it goes in one of two statements, where the other has it the other way round."""
    start, end = _way(both.one)
    other_start, other_end = _way(both.other)
    if not both.is_equally_negated or not both.is_one_topic:
        return ""
    if start.keys() & other_start.keys() or end.keys() & other_end.keys():
        return ""
    turned = [*(start.keys() & other_end.keys())][:1], [*(end.keys() & other_start.keys())][:1]
    if not all(turned):
        return ""
    return (
        f'from "{start[turned[0][0]].written}" to "{end[turned[1][0]].written}" against the other way round'
    )


def _is_another_date(both: Comparison) -> bool:
    # Another number at another time denies nothing, nor does the same number again: but what happened, happened once.
    numbers = [slot for slot in both.slots if not (slot.is_date or slot.is_rank)]
    if any(slot.agreement is not Agreement.EQUAL for slot in numbers):
        return False
    has_other_dates = any(slot.is_date and slot.agreement is Agreement.EQUAL for slot in both.slots)
    if has_other_dates and not both.in_order:
        return False
    return not numbers or bool((both.one.stems | both.other.stems) & stems("events"))


def _names(words: tuple[Word, ...]) -> list[Word]:
    return [word for word in words if word.is_name]


def _conditions(words: tuple[Word, ...]) -> bool:
    return any(word.opener in CONDITION_OPENERS and word.opener != word.written for word in words)


def _have_other_subjects(both: Comparison) -> bool:
    first, other = both.one.words[:1], both.other.words[:1]
    return bool(set(first) & set(both.only_new)) and bool(set(other) & set(both.only_known))


def _way(statement: Statement) -> tuple[dict[str, Word], dict[str, Word]]:
    start = {word.stem: word for word in statement.words if word.opener == "from"}
    end = {word.stem: word for word in statement.words if word.opener == "to"}
    return (
        {stem: word for stem, word in start.items() if stem not in end},
        {stem: word for stem, word in end.items() if stem not in start},
    )
