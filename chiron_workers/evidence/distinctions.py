"""The ways in which a statement is about something else than a known one, or limits it."""

from chiron_workers.evidence.comparison import Comparison
from chiron_workers.evidence.contradictions import is_equally_limited, is_equally_negated
from chiron_workers.evidence.quantities import Agreement
from chiron_workers.evidence.vocabulary import CONDITION_OPENERS, CUES

OTHER_PROPERTY_SHARE = 0.4  # of the content words of both, at most, where what they measure differs
LIMITED_SHARE = 0.6  # of the known statement's content words, that the one which limits it repeats
_NO_MEASURE = {"count", "name", "rank", "share", "times", "percentage points"}


def other_time(both: Comparison) -> str:
    """The dates of two statements that give different numbers for different times; empty where they do not."""
    dates = [slot for slot in both.differing if slot.is_date]
    numbers = [slot for slot in both.differing if not (slot.is_date or slot.is_which)]
    has_other_numbers = numbers or (both.figures_only_new and both.figures_only_known)
    if not (dates and has_other_numbers and both.is_one_topic):
        return ""
    return f"They speak of different times: {dates[0].new}, {dates[0].known}"


def other_one(both: Comparison) -> str:
    """Which ones two statements speak of where those are not the same; empty where that is not plain."""
    which = [slot for slot in both.differing if slot.is_other_one]
    numbers = [slot for slot in both.differing if not slot.is_which]
    is_only_change = both.in_order and not numbers
    if which and not is_only_change and both.one.stems & both.other.stems:
        return f"They speak of different ones: {which[0].new}, {which[0].known}"
    new = [word.written for word in both.only_new if word.is_name]
    known = [word.written for word in both.only_known if word.is_name]
    if new and known and numbers and both.share >= 0.4 and not _may_be_short(both):
        return f"They speak of different ones: {' '.join(new)}, {' '.join(known)}"
    return ""


def other_property(both: Comparison) -> str:
    """What two statements measure that has no common unit; empty where something has."""
    ours = {one.dimension for one in both.one.figures.quantities}
    theirs = {one.dimension for one in both.other.figures.quantities}
    if both.slots or both.share > OTHER_PROPERTY_SHARE or not (both.only_new and both.only_known):
        return ""
    if not (ours and theirs) or (ours | theirs) & _NO_MEASURE or _bases(ours) & _bases(theirs):
        return ""
    return f"They measure different things: {both.figures_only_new[0]}, {both.figures_only_known[0]}"


def limit(both: Comparison) -> str:
    """The word by which the new statement limits the known one; empty where it does not."""
    cues = (both.one.restrictions - both.other.restrictions) & CUES
    if not cues or both.differing or both.other.restrictions & CUES or both.figures_only_known:
        return ""
    repeated = len(both.one.stems & both.other.stems)
    if repeated < LIMITED_SHARE * len(both.other.stems) or repeated < 2:
        return ""
    return f'The new one says "{min(cues)}"'


def condition(both: Comparison) -> str:
    """What the new statement adds to the words of the known one that limits it; empty where it adds nothing such."""
    one, other = both.one, both.other
    if both.only_known or both.figures_only_known or not is_equally_negated(both):
        return ""
    if (
        one.order[: len(other.order)] != other.order
        or one.particles[: len(other.particles)] != other.particles
    ):
        return ""
    if any(slot.agreement is Agreement.DIFFERENT or slot.is_wider for slot in both.slots):
        return ""
    softer = sorted((one.hedges | one.restrictions) - other.hedges - other.restrictions)
    if softer and other.hedges <= one.hedges and both.in_order:
        return f'The new one says "{softer[0]}"'
    if not is_equally_limited(both) or any(word.is_name for word in both.only_new):
        return ""
    added = both.only_new
    if added and all(word.opener in CONDITION_OPENERS for word in added) and not both.figures_only_new:
        return f'The new one adds a condition: "{added[0].opener} {" ".join(word.written for word in added)}"'
    closer = [slot for slot in both.slots if slot.is_narrower]
    return f"{closer[0].new} is more precise than {closer[0].known}" if closer and both.in_order else ""


def _may_be_short(both: Comparison) -> bool:
    return any(word.is_acronym for word in (*both.only_new, *both.only_known))


def _bases(dimensions: set[str]) -> set[str]:
    return {base for dimension in dimensions for base in dimension.split("/")}
