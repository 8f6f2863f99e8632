"""The rules that answer `new`. Each says what else the new statement speaks of, or nothing where that is not plain."""

from chiron_workers.evidence.statements.comparison import Comparison, names

NAMED_OVERLAP = 0.4  # of the content words of both, at least, where their names and figures differ


def other_time(both: Comparison) -> str:
    """Different numbers at different times: "up 99.98 % of the time in March" and "up 99.71 % of the time in April"."""
    dates = [slot for slot in both.different_slots if slot.is_date]
    numbers = [slot for slot in both.different_slots if not (slot.is_date or slot.is_which)]
    if not (dates and numbers and both.is_one_topic):
        return ""
    return f"They speak of different times: {dates[0].new}, {dates[0].known}"


def other_subject(both: Comparison) -> str:
    """Different ones: "PostgreSQL 12 has 40 settings" and "PostgreSQL 11 has 30 settings", or two names or subjects
    with different numbers, as in "Slovenia banned the sale of fur in 2007." and "Slovakia ... in 2009." """
    identities = [slot for slot in both.different_slots if slot.is_identity]
    if identities and both.common_stems:
        return f"They speak of different ones: {identities[0].new}, {identities[0].known}"
    has_different_numbers = any(not slot.is_which for slot in both.different_slots)
    if not has_different_numbers or not both.is_equally_negated:
        return ""
    return _different_names(both) or _different_first_words(both)


def _different_names(both: Comparison) -> str:
    new, known = names(both.only_new), names(both.only_known)
    if not new or not known:
        return ""
    are_all_names = len(new) == len(both.only_new) and len(known) == len(both.only_known)
    if not are_all_names and both.overlap < NAMED_OVERLAP:
        return ""
    written = (" ".join(word.written for word in words) for words in (new, known))
    return f"They speak of different ones: {', '.join(written)}"


def _different_first_words(both: Comparison) -> str:
    change = both.replacement
    if change is None or change.position > 0 or not both.is_one_topic:
        return ""
    if len(change.new) != 1 or len(change.known) != 1:
        return ""
    return f"They speak of different ones: {change.new[0].written}, {change.known[0].written}"
