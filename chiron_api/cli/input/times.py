from datetime import UTC, date, datetime
from typing import Any

import typer


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


def time_option(help: str) -> Any:
    """An option whose value is a time."""
    return typer.Option(parser=_parse_option, metavar="TIME", help=help)


def _parse_option(text: str) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
