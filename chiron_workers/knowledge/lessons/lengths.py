"""How long a lesson may be, by the depth to which its subject is learnt."""

SENTENCES_MAX = {"overview": 16, "practical": 40, "expert": 90}
USUAL = "practical"


def sentences_max(depth: str) -> int:
    """How many sentences a lesson has at most; depths in other words count as `practical`."""
    words = depth.casefold().split()
    return next((limit for name, limit in SENTENCES_MAX.items() if name in words), SENTENCES_MAX[USUAL])
