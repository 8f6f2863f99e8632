"""Facts that were so until a day that is over, and whether a sentence that rests on one says the time."""

import re
from datetime import date

_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


def is_expired(valid_until: str | None, today: date) -> bool:
    """Whether the year, month or day until which a fact was so is over; one that is not known is not."""
    return bool(valid_until) and (valid_until or "") < today.isoformat()[: len(valid_until or "")]


def states_time(text: str, valid_from: str | None, valid_until: str | None) -> bool:
    """Whether a sentence names the year in which a fact ended, or one in which it was so."""
    first, last = _year(valid_from), _year(valid_until)
    years = {int(digits) for digits in _YEAR.findall(text)}
    return last is None or any(
        year == last or (first is not None and first <= year <= last) for year in years
    )


def _year(day: str | None) -> int | None:
    match = _NUMBER.match(day or "")
    return int(match[0]) if match else None
