"""Times, ages and ends as values of options."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from chiron_api.acts.moments import SPAN, SPAN_MAX, UNITS, Side, parse_moment
from chiron_workers.errors import UsageError


def parse_age(text: str) -> timedelta:
    """Parse an age such as 90d, 12w or 1y. Raises UsageError."""
    match = SPAN.fullmatch(text.strip())
    age = int(match[1]) * UNITS[match[2]] if match and match[2] != "h" else timedelta()
    if not timedelta() < age <= SPAN_MAX:
        raise UsageError(f"{text[:40]!r} is not an age; write 90d for days, 12w for weeks or 1y for years.")
    return age


def parse_end(text: str) -> datetime:
    """Parse an end such as 30d or a time. Raises UsageError for other text and for a time that has passed."""
    try:
        end = parse_moment(text, Side.FUTURE)
    except ValueError:
        raise UsageError(
            f"{text[:40]!r} is not a time to end; write 30d, 12w or 1y for a time from now, or a date such as 2026-12-31."
        ) from None
    if end <= datetime.now(UTC):
        raise UsageError(f"{text[:40]} has passed already.")
    return end


def parser_of(side: Side) -> Callable[[str], datetime]:
    """A parser of times for an option."""

    def parse(text: str) -> datetime:
        try:
            return parse_moment(text, side)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return parse


def time_option(*names: str, help: str, side: Side = Side.PAST) -> Any:
    """An option whose value is a time."""
    return typer.Option(*names, parser=parser_of(side), metavar="TIME", help=help)
