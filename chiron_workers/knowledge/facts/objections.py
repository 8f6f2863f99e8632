"""What an agent noted against a fact in its own words."""

import re
from collections.abc import Iterable

from chiron_workers.db.validation import parse_id_or_none

ADDRESS_BEHIND = re.compile(r"\s*\([a-z][a-z0-9+.-]*://[^()\s]*\)$", re.IGNORECASE)


def unlinked_objections(notes: Iterable[str], contradicting: Iterable[str]) -> tuple[str, ...]:
    """The notes that are no id of a fact, and that no fact linked as contradicting says in the same words.

    Args:
        notes: Ids and statements, as they are stored; an address may stand in brackets behind a statement.
        contradicting: What the facts say that contradict it.
    """
    statements = set(map(_words, contradicting))
    return tuple(note for note in notes if parse_id_or_none(note) is None and _words(note) not in statements)


def _words(text: str) -> str:
    return " ".join(ADDRESS_BEHIND.sub("", text.strip()).split()).casefold()
