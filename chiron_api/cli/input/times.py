import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import typer

from chiron_workers.errors import UsageError

DAYS = {"d": 1, "w": 7, "y": 365}
DAYS_MAX = 365_000


def parse_time(value: object) -> datetime:
    """Parse a time to UTC: ISO 8601 such as 2026-03-01T09:30 or 2026-03-01; without a zone it is local time.

    Raises:
        ValueError: It is no such time.
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


def parse_age(text: str) -> timedelta:
    """Parse an age such as 90d, 12w or 1y. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*([dwy])\s*", text)
    if match is None or not 0 < (days := int(match[1]) * DAYS[match[2]]) <= DAYS_MAX:
        raise UsageError(f"{text[:40]!r} is no age; write 90d for days, 12w for weeks or 1y for years.")
    return timedelta(days=days)


def parse_end(text: str) -> datetime:
    """When something ends: after an age such as 30d, or at a time. Raises UsageError for what has passed, or is neither."""
    try:
        end = datetime.now(UTC) + parse_age(text)
    except UsageError:
        try:
            end = parse_time(text)
        except ValueError:
            raise UsageError(
                f"{text[:40]!r} is no end; write 30d, 12w or 1y for a time from now, or a date such as 2026-12-31."
            ) from None
    if end <= datetime.now(UTC):
        raise UsageError(f"{text[:40]} has passed already.")
    return end


def time_option(help: str) -> Any:
    """An option whose value is a time."""
    return typer.Option(parser=parse_time_option, metavar="TIME", help=help)


def parse_time_option(text: str) -> datetime:
    """A time as an option has it."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
