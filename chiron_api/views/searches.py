from collections.abc import Sequence
from typing import TYPE_CHECKING

from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import RESULTS_MAX, FoundFact
from chiron_workers.states import SearchMode

if TYPE_CHECKING:
    from chiron_workers.store import Store

# Cosine. Between questions and facts that have nothing to do with each other the model that comes with Chiron stays below it
# in 95 of 100 pairs; other models put unrelated texts higher, and so little is left out with them.
NEAR_FROM = 0.2
# Among a thousand facts the nearest to a query without meaning, such as one letter 2,000 times, comes that near.
BEST_FROM = 0.25


async def leave_out_strangers(
    store: "Store", facts: Sequence[FoundFact], query: str, filters: Filters, *, mode: SearchMode
) -> list[FoundFact]:
    """Those of the facts that people call a result: near enough in meaning, or with a word of the query where words are searched.

    Nothing where no fact has a word of the query and the nearest is hardly near.
    """
    is_best_near = max(map(_similarity, facts), default=0.0) >= BEST_FROM
    if mode is SearchMode.TEXT or (is_best_near and all(map(_is_near, facts))):
        return list(facts)
    matches: list[FoundFact] = []
    if mode is SearchMode.HYBRID:
        matches = await store.search.find(query, filters=filters, limit=RESULTS_MAX, mode=SearchMode.TEXT)
    match_ids = {fact["id"] for fact in matches}
    if not is_best_near and match_ids.isdisjoint(fact["id"] for fact in facts):
        return []
    return [fact for fact in facts if _is_near(fact) or fact["id"] in match_ids]


def _is_near(fact: FoundFact) -> bool:
    return _similarity(fact) >= NEAR_FROM


def _similarity(fact: FoundFact) -> float:
    return fact["similarity"] or 0.0
