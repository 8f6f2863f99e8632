"""The ways in which two statements cannot both be true that figures and words alone show."""

from chiron_workers.evidence.comparison import Comparison
from chiron_workers.evidence.quantities import Agreement
from chiron_workers.evidence.stems import are_prefixed, are_relative, opposites, stems
from chiron_workers.evidence.vocabulary import (
    BASES,
    CONDITION_OPENERS,
    CUES,
    SETTINGS,
)
from chiron_workers.evidence.wording import Statement, Word

NEGATED_SHARE = 0.65  # of the content words of both, for a negation in one of them to deny the other
NAMES_MAX = 3  # words of a name
POWERS = {"can", "could"}  # what can be done need not be a doubt
OTHER_WORDS_MAX = 2  # beside the names in which two statements differ


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
    if not (is_equally_negated(both) and is_equally_limited(both)) or _have_other_subjects(both):
        return ""
    if _names(both.only_new) and _names(both.only_known):
        return ""
    if any(word.written in BASES for word in (*both.only_new, *both.only_known)):
        return ""
    if _conditions(both.only_new) or _conditions(both.only_known) or _any_opposites(both):
        return ""
    return "; ".join(f"{slot.new} against {slot.known}" for slot in differing)


def negation(both: Comparison) -> str:
    """The word by which one statement denies the other; empty where that is not plain."""
    if is_equally_negated(both) or not both.all_equal or not is_equally_limited(both):
        return ""
    negated, plain = (both.one, both.other) if len(both.one.negations) == 1 else (both.other, both.one)
    if len(negated.negations) != 1 or plain.negations or "until" in negated.restrictions:
        return ""
    if not negated.denied or negated.denied[0] not in plain.stems or _any_opposites(both):
        return ""
    covered = not both.only_new or not both.only_known
    common = len(both.one.stems & both.other.stems)
    if both.share >= NEGATED_SHARE or (covered and common >= 3):
        return f'"{negated.negations[0]}" stands in one of them only'
    return ""


def opposite(both: Comparison) -> str:
    """Two words that deny each other, in statements that else agree; empty where there are none."""
    pairs = _opposite_pairs(both)
    if len(pairs) != 1 or not both.all_equal or not is_equally_negated(both) or not is_equally_limited(both):
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
    if not is_equally_negated(both) or not both.is_one_topic:
        return ""
    if start.keys() & other_start.keys() or end.keys() & other_end.keys():
        return ""
    turned = [*(start.keys() & other_end.keys())][:1], [*(end.keys() & other_start.keys())][:1]
    if not all(turned):
        return ""
    return (
        f'from "{start[turned[0][0]].written}" to "{end[turned[1][0]].written}" against the other way round'
    )


def other_name(both: Comparison) -> str:
    """Two names for what has one only, such as a capital or a founder; empty where that is not plain."""
    new, known = _names(both.only_new), _names(both.only_known)
    change = both.replacement
    if change is not None and change.at == 0 and len(change.new) == len(change.known) == 1:
        new, known = [*change.new], [*change.known]  # whatever opens a sentence has a capital
    if (
        not (0 < len(new) <= NAMES_MAX and 0 < len(known) <= NAMES_MAX)
        or both.differing
        or _any_opposites(both)
    ):
        return ""
    others = sorted((len(both.only_new) - len(new), len(both.only_known) - len(known)))
    if others[0] > 0 or others[1] > OTHER_WORDS_MAX:
        return ""  # another noun or verb too: the first product, the first customer
    if not (is_equally_negated(both) and is_equally_limited(both)):
        return ""
    if not (_fills_its_slot(both, both.one, new) and _fills_its_slot(both, both.other, known)):
        return ""
    return f"{_written(new)} against {_written(known)}"


def is_equally_negated(both: Comparison) -> bool:
    """Whether both deny as often: one denial more or less turns a statement around."""
    return len(both.one.negations) % 2 == len(both.other.negations) % 2


def is_equally_limited(both: Comparison) -> bool:
    """Whether both are said as firmly, and with the same limits."""
    hedges = (both.one.hedges ^ both.other.hedges) - POWERS
    return not hedges and both.one.restrictions & CUES == both.other.restrictions & CUES


def leaves_one_answer(both: Comparison) -> bool:
    """Whether both speak of what only one can be or have: the largest, the first, the capital, the founder."""
    cues = both.one.stems & both.other.stems & stems("one answer")
    return bool(cues) or any(slot.is_rank for slot in both.slots)


def _fills_its_slot(both: Comparison, statement: Statement, names: list[Word]) -> bool:
    common = both.one.stems & both.other.stems
    places = [statement.words.index(name) for name in names]
    if places[-1] - places[0] >= len(places):
        return False  # two names apart from each other: Jupiter's largest moon, Ganymede
    openers = {word.opener for word in names}
    if openers <= {"in", "at", "near"}:
        return bool(common & stems("one place"))
    if openers & SETTINGS:
        return False
    if deeds := common & stems("deeds"):
        # Who did it, not what else the same one did.
        place = min(statement.order.index(deed) for deed in deeds)
        return openers == {"by"} or names[0].stem in statement.order[:place]
    return leaves_one_answer(both)


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


def _written(words: list[Word]) -> str:
    return " ".join(word.written for word in words)


def _conditions(words: tuple[Word, ...]) -> bool:
    return any(word.opener in CONDITION_OPENERS for word in words)


def _have_other_subjects(both: Comparison) -> bool:
    first, other = both.one.words[:1], both.other.words[:1]
    return bool(set(first) & set(both.only_new)) and bool(set(other) & set(both.only_known))


def _opposite_pairs(both: Comparison) -> list[tuple[Word, Word]]:
    return [
        (new, known)
        for new in both.only_new
        for known in both.only_known
        if opposites(new.written, known.written)
    ]


def _any_opposites(both: Comparison) -> bool:
    return bool(_opposite_pairs(both))


def _way(statement: Statement) -> tuple[dict[str, Word], dict[str, Word]]:
    start = {word.stem: word for word in statement.words if word.opener == "from"}
    end = {word.stem: word for word in statement.words if word.opener == "to"}
    return (
        {stem: word for stem, word in start.items() if stem not in end},
        {stem: word for stem, word in end.items() if stem not in start},
    )
