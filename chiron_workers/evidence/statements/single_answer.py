"""Names in the one slot that a statement has for them: the capital, the founder, where somebody was born."""

from chiron_workers.evidence.statements.comparison import Comparison
from chiron_workers.evidence.statements.statement import Statement
from chiron_workers.evidence.statements.stems import stems
from chiron_workers.evidence.statements.tokens import Word
from chiron_workers.evidence.vocabulary import SETTINGS

NAMES_MAX = 3  # words of a name
OTHER_WORDS_MAX = 2  # beside the names in which two statements differ


def other_name(both: Comparison) -> str:
    """Two names for what has one only, such as a capital or a founder; empty where that is not plain."""
    new, known = _names(both.only_new), _names(both.only_known)
    change = both.replacement
    if change is not None and change.at == 0 and len(change.new) == len(change.known) == 1:
        new, known = [*change.new], [*change.known]  # whatever opens a sentence has a capital
    if (
        not (0 < len(new) <= NAMES_MAX and 0 < len(known) <= NAMES_MAX)
        or both.differing
        or both.opposite_pairs
    ):
        return ""
    others = sorted((len(both.only_new) - len(new), len(both.only_known) - len(known)))
    if others[0] > 0 or others[1] > OTHER_WORDS_MAX:
        return ""  # another noun or verb too: the first product, the first customer
    if not (both.is_equally_negated and both.is_equally_limited):
        return ""
    if not (_fills_its_slot(both, both.one, new) and _fills_its_slot(both, both.other, known)):
        return ""
    return f"{_written(new)} against {_written(known)}"


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


def _names(words: tuple[Word, ...]) -> list[Word]:
    return [word for word in words if word.is_name]


def _written(words: list[Word]) -> str:
    return " ".join(word.written for word in words)
