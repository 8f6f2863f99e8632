"""The values of cells: what a model sent as the type of its column, and how each is written and read again."""

import re
from datetime import date
from math import isfinite
from urllib.parse import urlsplit

from chiron_workers.errors import ToolError
from chiron_workers.runs.entries import storable
from chiron_workers.states import ColumnType

TEXT_CHARS_MAX = 2_000
INT_DIGITS_MAX = 18
SHOWN_CHARS = 60
UNCHECKED_MARK = "value found, meaning unchecked"
Value = str | int | float | bool
_INT = re.compile(rf"[+-]?[0-9]{{1,{INT_DIGITS_MAX}}}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")
WORDS = {"true": True, "false": False}
# What a column of each type takes, and what to do with what it does not.
EXPECTATIONS = {
    ColumnType.TEXT: f"must be text of at most {TEXT_CHARS_MAX:,} characters",
    ColumnType.INT: "must be a whole number in digits alone, such as 1996",
    ColumnType.FLOAT: "must be a number in digits with a point, such as 3.5",
    ColumnType.BOOL: "must be true or false",
    ColumnType.DATE: "must be a day such as 2026-03-01; where only the year or month is known, leave it empty and say so",
    ColumnType.URL: "must be an address that begins with http:// or https://",
}


def value_of(value: Value, kind: ColumnType) -> Value:
    """A value as its column's type has it; a day and an address are text.

    Raises:
        ToolError: It is none of that type; the sentence says what would be.
    """
    text = storable(str(value)).strip()
    match kind:
        case ColumnType.TEXT if not isinstance(value, bool) and 0 < len(text) <= TEXT_CHARS_MAX:
            return text
        case ColumnType.BOOL if isinstance(value, bool) or text.casefold() in WORDS:
            return WORDS[text.casefold()]
        case ColumnType.INT if (number := _whole_number(value, text)) is not None:
            return number
        case ColumnType.FLOAT if not isinstance(value, bool) and _FLOAT.fullmatch(text):
            if isfinite(fraction := float(text)):
                return fraction
        case ColumnType.DATE if _is_day(text):
            return text
        case ColumnType.URL if _is_address(text):
            return text
    raise ToolError(f"{EXPECTATIONS[kind]} (got {str(value)[:SHOWN_CHARS]!r}).")


def written(value: Value) -> str:
    """A value as text that `read` reads again."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read(text: str, kind: ColumnType) -> Value:
    """The value that `written` wrote."""
    match kind:
        case ColumnType.BOOL:
            return WORDS[text]
        case ColumnType.INT:
            return int(text)
        case ColumnType.FLOAT:
            return float(text)
    return text


def _whole_number(value: Value, text: str) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**INT_DIGITS_MAX else None
    return int(text) if _INT.fullmatch(text) else None


def _is_day(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    if len(text) > TEXT_CHARS_MAX or _SPACE.search(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
