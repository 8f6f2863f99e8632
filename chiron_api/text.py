"""What is printed: words of models and pages made safe for a terminal, and results as JSON."""

import dataclasses
import json
import re
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

# Escape sequences, then what else a terminal obeys: controls, and marks that turn the direction of writing.
SEQUENCES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def paragraphs(text: str) -> str:
    """The text without what a terminal would obey; its lines stay."""
    return CONTROLS.sub("", SEQUENCES.sub("", text)).strip()


def one_line(text: str, *, chars_max: int = 300) -> str:
    """The text on one line, without what a terminal would obey, cut at `chars_max`."""
    found = " ".join(paragraphs(text[: 4 * chars_max]).split())
    return found if len(found) <= chars_max else f"{found[: chars_max - 1]}…"


def as_json(value: object) -> str:
    """One line of JSON: dataclasses as objects, ids and times as text, money as a number."""
    return json.dumps(value, default=_plain)


def usd(amount: Decimal | float) -> str:
    """Money for people: four digits where it is small."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def lasted(seconds: float) -> str:
    """A time span for people: 7s, 3m 12s, 2h 05m."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def _plain(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")
