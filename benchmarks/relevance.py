"""How well a ranking answers a question whose answers are known."""

import math
from collections.abc import Mapping, Sequence

DEPTH = 10


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """nDCG at 10, 0 to 1: grade / log2(place + 1), summed over the ranking, as a share of the best order's sum.

    Järvelin and Kekäläinen, TOIS 2002; with linear gain, as trec_eval and BEIR have it.
    """
    best = sorted(grades.values(), reverse=True)
    return _discounted([grades.get(text, 0) for text in ranking]) / _discounted(best)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:DEPTH]))


def recall(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """The share of the texts that answer a question which is among the first 10."""
    return len(set(ranking[:DEPTH]) & grades.keys()) / len(grades)
