"""What people and models write, made fit to be stored. Errors name the field and what would be right."""

import re
from uuid import UUID

from chiron_workers.errors import ToolValidationError

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL, and halves of surrogate pairs


def clean_text(text: str, *, field: str, chars_max: int) -> str:
    """The text without the white space around it.

    Raises:
        ToolValidationError: It is empty, too long, or holds characters that Postgres cannot store.
    """
    content = text.strip()
    if not content:
        raise ToolValidationError(f"{field}: must not be empty.", field=field)
    if len(content) > chars_max:
        raise ToolValidationError(
            f"{field}: must have at most {chars_max:,} characters (got {len(content):,}).", field=field
        )
    if UNSTORABLE.search(content):
        raise ToolValidationError(
            f"{field}: must be plain text; it holds NUL characters or halves of surrogate pairs.", field=field
        )
    return content


def unit_interval(value: float, *, field: str) -> float:
    """A number from 0 to 1. Raises ToolValidationError for any other, and for NaN."""
    if not 0 <= value <= 1:
        raise ToolValidationError(f"{field}: must be between 0 and 1 (got {value}).", field=field)
    return float(value)


def limited(count: int, *, field: str, count_max: int) -> int:
    """A count from 1 to `most`. Raises ToolValidationError for any other."""
    if not 1 <= count <= count_max:
        raise ToolValidationError(f"{field}: must be between 1 and {count_max} (got {count}).", field=field)
    return count


def parse_id(text: str, *, field: str) -> UUID:
    """The id that a text spells. Raises ToolValidationError where it is none."""
    try:
        return UUID(text.strip())
    except ValueError:
        raise ToolValidationError(
            f"{field}: must be an id such as 0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa (got {text[:60]!r}).",
            field=field,
        ) from None


def parse_id_or_none(text: str) -> UUID | None:
    """The id that a text spells; None where it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def collapse_whitespace(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())
