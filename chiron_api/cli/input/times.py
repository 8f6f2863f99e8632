from datetime import UTC, date, datetime

import typer


def moment(written: object) -> datetime:
    """A time as people write it, in UTC: ISO 8601 such as 2026-03-01T09:30 or 2026-03-01; without a zone it is local time.

    Raises:
        ValueError: It is no such time.
    """
    match written:
        case datetime():
            found = written
        case date():  # YAML reads dates by itself
            found = datetime(written.year, written.month, written.day)  # local time, as written
        case str():
            found = _parsed(written)
        case _:
            raise _refusal(written)
    try:
        return found.astimezone(UTC)
    except (OverflowError, ValueError, OSError):  # a year that no clock here reaches
        raise _refusal(written) from None


def starting_time(text: str) -> datetime:
    """As `moment`, for the command line. Raises typer.BadParameter."""
    try:
        return moment(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise _refusal(text) from None


def _refusal(written: object) -> ValueError:
    return ValueError(f"must be a time such as 2026-03-01T09:30 or 2026-03-01T09:30Z (got {written!r:.60}).")
