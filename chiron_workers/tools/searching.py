from typing import Annotated

from pydantic import Field

from chiron_workers.store import Store
from chiron_workers.store.search import FOUND_MAX, Filters, FoundFact
from chiron_workers.toolkit import tool

Score = Annotated[float, Field(ge=0, le=1)]
TopK = Annotated[int, Field(ge=1, le=FOUND_MAX)]


@tool
async def vector_search(
    store: Store, *, query: str, subject_id: str, top_k: TopK = 5, min_confidence: Score = 0.0
) -> list[FoundFact]:
    """Find the facts of a subject nearest in meaning to a query, best first.

    Args:
        query: What you want to know, in your own words.
        subject_id: The subject to search, by its id or its name.
        top_k: How many facts at most.
        min_confidence: Leave out facts below this confidence, 0 to 1.

    Returns:
        For each fact its id, content, quote, source_url, source_score, topic_path, confidence, status, and
        score: the cosine similarity to the query, higher is nearer.
    """
    filters = Filters(subject_id, min_confidence)
    return await store.search.find(query, filters=filters, limit=top_k)
