"""The objects of schema.org that a page has in its JSON-LD."""

import json
from collections.abc import Iterator
from typing import Any

CHARS_MAX = 500_000
ITEMS_MAX = 20  # of scripts in a page, and of objects in a script


def things_of(tree: Any) -> Iterator[dict[str, Any]]:
    """The objects at the top of each script, or of its graph; scripts that are no JSON are passed over."""
    scripts = [script for script in tree.iter("script") if "ld+json" in (script.get("type") or "").lower()]
    for script in scripts[:ITEMS_MAX]:
        try:
            data = json.loads((script.text or "")[:CHARS_MAX])
        except (ValueError, RecursionError):
            continue
        yield from _things(data)[:ITEMS_MAX]


def _things(data: object) -> list[dict[str, Any]]:
    top = data if isinstance(data, list) else [data]
    graphs = [
        thing["@graph"] for thing in top if isinstance(thing, dict) and isinstance(thing.get("@graph"), list)
    ]
    return [thing for group in (top, *graphs) for thing in group if isinstance(thing, dict)]
