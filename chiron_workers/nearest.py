"""Names that come nearest to one that there is not, in their letters."""

from collections.abc import Iterable
from difflib import get_close_matches

NEARNESS_MIN = 0.6  # as difflib measures it; 1 is equal


def nearest(
    name: str, names: Iterable[str], *, limit: int = 3, nearness_min: float = NEARNESS_MIN
) -> list[str]:
    """The names nearest to this one, best first, whatever their case."""
    by_folded = {other.casefold(): other for other in names}
    matches = get_close_matches(name.casefold(), by_folded, n=limit, cutoff=nearness_min)
    return [by_folded[match] for match in matches]


def suggestion(name: str, names: Iterable[str]) -> str:
    """The question whether one of the nearest names is meant, after a space; empty where none is near."""
    matches = nearest(name, names)
    return f" Did you mean {' or '.join(matches)}?" if matches else ""
