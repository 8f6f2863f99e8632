"""How far a source is to be trusted, from what its address alone tells."""

import re
from urllib.parse import urlsplit

_ACADEMIC = re.compile(
    r"(?:^|\.)(?:doi\.org|arxiv\.org|pubmed|ncbi\.nlm|nature\.com|science\.org|acm\.org|ieee\.org|edu)(?:\.|/|$)|\.ac\.\w\w$|^10\.\d{4}"
)
_OFFICIAL = re.compile(
    r"(?:^|[./-])(?:docs?|documentation|developer|reference|manual|spec|specs|standards?|rfc|readthedocs|gov|iso|w3c?)(?:[./-]|$)"
)
_USERS = re.compile(
    r"(?:^|[./-])(?:forums?|reddit|quora|stackexchange|stackoverflow|answers|discuss|community|comments?|twitter|x|facebook|tiktok|youtube|wiki)(?:[./-]|$)"
)
_EXPERT = re.compile(
    r"(?:^|[./-])(?:blog|blogs|medium|substack|books?|oreilly|press|weblog|journal)(?:[./-]|$)"
)

ACADEMIC, OFFICIAL, EXPERT, GENERAL, USERS = 0.95, 0.85, 0.7, 0.5, 0.3  # the middle of each band


def source_score(url: str) -> float:
    """The score of a source, 0 to 1, by its band.

    Academic work 0.9-1.0, official documentation 0.8-0.9, expert blogs and books 0.6-0.8, general articles 0.4-0.6,
    what users wrote 0.2-0.4. A document that is not on the web was put there on purpose and counts as documentation.
    """
    address = urlsplit(url.lower())
    if address.scheme not in ("http", "https"):
        return ACADEMIC if _ACADEMIC.search(url.lower()) else OFFICIAL
    place = f"{address.hostname or ''}{address.path}"
    if _ACADEMIC.search(address.hostname or ""):
        return ACADEMIC
    for pattern, score in ((_USERS, USERS), (_OFFICIAL, OFFICIAL), (_EXPERT, EXPERT)):
        if pattern.search(place):
            return score
    return GENERAL
