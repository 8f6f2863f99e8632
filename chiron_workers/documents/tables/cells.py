import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from chiron_workers.documents.document import clean

CELL_CHARS_MAX = 2_000
ITEMS_MAX = 100


def json_value(value: Any) -> Any:
    """A value of a database as JSON has it: dates as ISO 8601, bytes in hex, long texts and lists cut with a mark."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, bytes):
        return _cut(value[:CELL_CHARS_MAX].hex())
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(json_value(key)): json_value(inner) for key, inner in list(value.items())[:ITEMS_MAX]}
    if isinstance(value, list | tuple):
        rest = [f"… [{len(value) - ITEMS_MAX:,} more]"] if len(value) > ITEMS_MAX else []
        return [*(json_value(inner) for inner in value[:ITEMS_MAX]), *rest]
    return _cut(str(value))


def _cut(text: str) -> str:
    found = clean(text)
    if len(found) <= CELL_CHARS_MAX:
        return found
    return f"{found[:CELL_CHARS_MAX]}… [cut, {len(found):,} characters]"
