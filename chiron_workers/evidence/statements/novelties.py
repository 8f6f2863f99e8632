"""The rules that answer `new`. Each says what else the new statement speaks of, or nothing where that is not plain."""

from chiron_workers.evidence.statements.comparison import Comparison, names, written

NAMED_OVERLAP = 0.4  # of the content words of both, at least, where their names and figures differ


def other_time(comparison: Comparison) -> str:
    """Different numbers at different times: "up 99.98 % of the time in March" and "up 99.71 % of the time in April"."""
    dates = [slot for slot in comparison.different_slots if slot.is_date]
    numbers = [slot for slot in comparison.different_slots if not (slot.is_date or slot.is_which)]
    if not (dates and numbers and comparison.is_one_topic):
        return ""
    return f"They speak of different times: {dates[0].new}, {dates[0].prior}"


def other_subject(comparison: Comparison) -> str:
    """Different ones: "PostgreSQL 12 has 40 settings" and "PostgreSQL 11 has 30 settings", or two names or subjects
    with different numbers, as in "Slovenia banned the sale of fur in 2007." and "Slovakia ... in 2009." """
    identities = [slot for slot in comparison.different_slots if slot.is_identity]
    if identities and comparison.common_stems:
        return f"They speak of different ones: {identities[0].new}, {identities[0].prior}"
    has_different_numbers = any(not slot.is_which for slot in comparison.different_slots)
    if not has_different_numbers or not comparison.is_equally_negated:
        return ""
    new, prior = names(comparison.only_new), names(comparison.only_prior)
    are_all_names = len(new) == len(comparison.only_new) and len(prior) == len(comparison.only_prior)
    if new and prior and (are_all_names or comparison.overlap >= NAMED_OVERLAP):
        return f"They speak of different ones: {written(new)}, {written(prior)}"
    change = comparison.replacement
    if change is None or change.position > 0 or not comparison.is_one_topic:
        return ""
    if len(change.new) != 1 or len(change.prior) != 1:
        return ""
    return f"They speak of different ones: {change.new[0].written}, {change.prior[0].written}"
