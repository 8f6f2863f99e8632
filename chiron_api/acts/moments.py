"""Times as people write them: a word, a weekday, a span from now, or ISO 8601."""

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "y": timedelta(days=365)}
SPAN = re.compile(r"(\d{1,6})\s*([hdwy])")
SPAN_MAX = timedelta(days=365_000)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Side(IntEnum):
    """Whether a word such as `tuesday` or `7d` means a time before now or after it."""

    PAST = -1
    FUTURE = 1

    @property
    def forms(self) -> str:
        """Examples of times on this side, for messages."""
        day = "yesterday" if self is Side.PAST else "tomorrow"
        return f"{day}, tuesday, 7d, 2h, 2026-03-01 or 2026-03-01T09:30"


def parse_moment(text: str, side: Side) -> datetime:
    """Parse a time to UTC, as an option has it. Days begin at midnight, local time; a weekday is never today.

    A parser of our own: dateparser takes 4 s to load, reads "3" as the 3rd of March, and takes `yesterday` for 24 hours ago.

    Raises:
        ValueError: The text is not a time in one of these forms.
    """
    words = text.strip().lower()
    try:
        if (match := SPAN.fullmatch(words)) and (span := int(match[1]) * UNITS[match[2]]) <= SPAN_MAX:
            return datetime.now(UTC) + side * span
        if words == "now":
            return datetime.now(UTC)
        days = _days_from_today(words, side)
        return parse_time(text) if days is None else _midnight(date.today() + timedelta(days))
    except (OverflowError, ValueError):
        raise ValueError(f"must be a time such as {side.forms} (got {text[:40]!r}).") from None


def _days_from_today(words: str, side: Side) -> int | None:
    if words in ("today", "yesterday", "tomorrow"):
        return ("yesterday", "today", "tomorrow").index(words) - 1
    names = [name for name in WEEKDAYS if words in (name, name[:3])]
    if not names:
        return None
    days = side * (WEEKDAYS.index(names[0]) - date.today().weekday()) % 7 or 7
    return side * days


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min).astimezone(UTC)


def parse_time(value: object) -> datetime:
    """Parse a time to UTC: ISO 8601 such as 2026-03-01T09:30 or 2026-03-01; without a zone it is local time.

    Raises:
        ValueError: The text is not a time in one of these forms.
    """
    try:
        match value:
            case datetime():
                time = value
            case date():  # YAML reads dates by itself
                time = datetime(value.year, value.month, value.day)  # local time, as written
            case _:
                time = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
        return time.astimezone(UTC)
    except (OverflowError, ValueError, OSError):  # OSError: the platform's clock lacks that year
        example = "2026-03-01T09:30 or 2026-03-01T09:30Z"
        raise ValueError(f"must be a time such as {example} (got {value!r:.60}).") from None
