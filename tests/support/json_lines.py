"""Lists that commands print with --json."""

import json
from typing import Any


def json_lines(text: str) -> list[Any]:
    """The items, of which each is a line."""
    return [json.loads(line) for line in text.splitlines()]
