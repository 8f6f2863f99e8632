"""The ways in which a statement is about something else than a known one, or limits it."""

from chiron_workers.evidence.figures.quantities import Agreement
from chiron_workers.evidence.statements.comparison import Comparison
from chiron_workers.evidence.statements.single_answer import leaves_one_answer
from chiron_workers.evidence.statements.stems import opposites
from chiron_workers.evidence.vocabulary import CONDITION_OPENERS, CUES

NAMED_SHARE = 0.4  # of the content words of both, at least, where their names and figures differ
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
    has_other_numbers = any(not slot.is_which for slot in both.differing)
    if which and (has_other_numbers or not both.in_order) and both.one.stems & both.other.stems:
        return f"They speak of different ones: {which[0].new}, {which[0].known}"
    if not has_other_numbers or not both.is_equally_negated:
        return ""
    return _other_names(both) or _other_subject(both)


def other_property(both: Comparison) -> str:
    """What two statements measure that has no common unit; empty where something has."""
    ours = {one.dimension for one in both.one.figures.quantities} - _NO_MEASURE
    theirs = {one.dimension for one in both.other.figures.quantities} - _NO_MEASURE
    if both.slots or both.share > OTHER_PROPERTY_SHARE or not (both.only_new and both.only_known):
        return ""
    if not (ours and theirs) or _bases(ours) & _bases(theirs) or not both.is_equally_negated:
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
    cue, place = next((word, at) for word, at in both.one.scopes if word in cues)
    denied_before = sum(at < place for word, at in both.one.scopes if word == "not")
    if denied_before != len(both.other.negations):
        return ""  # "not A but B" limits nothing
    return f'The new one says "{cue}"'


def condition(both: Comparison) -> str:
    """What the new statement adds to the words of the known one that limits it; empty where it adds nothing such."""
    one, other = both.one, both.other
    if both.only_known or both.figures_only_known or not both.is_equally_negated:
        return ""
    if any(slot.agreement is Agreement.DIFFERENT or slot.is_wider for slot in both.slots):
        return ""
    closer = _closer(both)
    if closer and not both.only_new and len(both.slots) == 1 and _is_said_alike(both):
        return closer
    if (one.order[: len(other.order)], one.particles[: len(other.particles)]) != (
        other.order,
        other.particles,
    ):
        return ""
    softer = sorted((one.hedges | one.restrictions) - other.hedges - other.restrictions)
    if softer and other.hedges <= one.hedges and both.in_order:
        return f'The new one says "{softer[0]}"'
    if not both.is_equally_limited or any(word.is_name for word in both.only_new):
        return ""
    added = both.only_new
    if added and all(word.opener in CONDITION_OPENERS for word in added) and not both.figures_only_new:
        return f'The new one adds a condition: "{added[0].opener} {" ".join(word.written for word in added)}"'
    return closer if both.in_order else ""


def _other_names(both: Comparison) -> str:
    new = [word.written for word in both.only_new if word.is_name]
    known = [word.written for word in both.only_known if word.is_name]
    if not new or not known or any(word.is_acronym for word in (*both.only_new, *both.only_known)):
        return ""  # an acronym may be short for the other name
    are_all_names = len(new) == len(both.only_new) and len(known) == len(both.only_known)
    if not are_all_names and both.share < NAMED_SHARE:
        return ""
    return f"They speak of different ones: {' '.join(new)}, {' '.join(known)}"


def _other_subject(both: Comparison) -> str:
    change = both.replacement
    if change is None or change.at > 0 or not both.is_one_topic or leaves_one_answer(both):
        return ""
    if len(change.new) != 1 or len(change.known) != 1:
        return ""
    ours, theirs = change.new[0].written, change.known[0].written
    return "" if opposites(ours, theirs) else f"They speak of different ones: {ours}, {theirs}"


def _closer(both: Comparison) -> str:
    slot = next((slot for slot in both.slots if slot.is_narrower), None)
    return f"{slot.new} is more precise than {slot.known}" if slot else ""


def _is_said_alike(both: Comparison) -> bool:
    one, other = both.one, both.other
    return (one.hedges, one.restrictions) == (other.hedges, other.restrictions)


def _bases(dimensions: set[str]) -> set[str]:
    return {base for dimension in dimensions for base in dimension.split("/")}
