"""What a fact says in numbers, dates and negations that the quote it rests on does not say."""

from chiron_workers.evidence.dates import Moment
from chiron_workers.evidence.figures import Figures, figures
from chiron_workers.evidence.quantities import Agreement, Quantity
from chiron_workers.evidence.wording import taken_apart


def omissions(fact: str, quote: str) -> list[str]:
    """One short sentence for each number, date or negation of the fact that the quote lacks; none where it has all.

    A number is there in other digits, words or units too (three, 5 km for 5,000 m), or rounded.
    """
    said, shown = figures(fact), figures(quote)
    lacking = [
        *(one.written for one in said.quantities if not _shows_quantity(shown, one)),
        *(said.text[one.start : one.end] for one in said.moments if not _shows_date(shown, one)),
    ]
    ours, theirs = taken_apart(fact).negations, taken_apart(quote).negations
    if ours and not theirs:
        lacking.append(f'"{ours[0]}"')
    return [f"The fact says {figure}, the quote does not." for figure in dict.fromkeys(lacking)]


def _shows_quantity(shown: Figures, wanted: Quantity) -> bool:
    if wanted.dimension == "rank" and wanted.low <= 2:
        return True  # "first" counts nothing in most sentences
    for one in shown.quantities:
        kinds = {wanted.dimension, one.dimension}
        if len(kinds) == 1 and one.agreement(wanted) is not Agreement.DIFFERENT:
            return True
        # Whether a number counts or belongs to a name, only its neighbours say, and they may differ.
        if kinds <= {"count", "name", "rank"} and one.low == wanted.low:
            return True
    return wanted.dimension in {"count", "name"} and any(
        moment.first[0] == wanted.low for moment in shown.moments
    )


def _shows_date(shown: Figures, wanted: Moment) -> bool:
    if any(one.within(wanted) or _is_part(wanted, one) for one in shown.moments):
        return True
    return any(one.dimension in {"count", "name"} and one.low == wanted.first[0] for one in shown.quantities)


def _is_part(wanted: Moment, one: Moment) -> bool:
    return (
        wanted.has_year != one.has_year
        and wanted.first[1:] == one.first[1:]
        and wanted.last[1:] == one.last[1:]
        and not wanted.has_year
    )
