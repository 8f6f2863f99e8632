"""How far a source is to be trusted, from what its address alone tells."""

import re
from urllib.parse import urlsplit

from chiron_workers.evidence.source_kinds import BANDS, recognise
from chiron_workers.states import SourceKind

_USERS = re.compile(
    r"(?:^|[./-])(?:forums?|answers|discuss|discussions?|community|comments?|talk)(?:[./-]|$)"
)
_OWN = 0.85  # it was put there on purpose, and counts as documentation
_UNKNOWN = 0.5  # the middle of what a general source has


def source_score(url: str) -> float:
    """The score of a source, 0 to 1: the middle of the band of its kind.

    A document that is not on the web was put there on purpose and counts as documentation; what looks like a forum counts
    like what users wrote.
    """
    address = urlsplit(url.lower())
    kind = recognise(url) if address.scheme in ("http", "https") else SourceKind.OWN
    match kind:
        case SourceKind.OWN:
            return _OWN
        case SourceKind.UNKNOWN if not _USERS.search(f"{address.hostname or ''}{address.path}"):
            return _UNKNOWN
        case SourceKind.UNKNOWN:
            kind = SourceKind.USER_GENERATED
    low, high = BANDS[kind]
    return round((low + high) / 2, 2)
