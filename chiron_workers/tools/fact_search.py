from typing import Annotated

from pydantic import Field

from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import RESULTS_MAX, FoundFact
from chiron_workers.states import SearchMode
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

Score = Annotated[float, Field(ge=0, le=1)]
TopK = Annotated[int, Field(ge=1, le=RESULTS_MAX)]


@tool
async def vector_search(  # noqa: PLR0913  # a search can be narrowed in that many ways
    store: Store,
    *,
    query: str,
    subject_id: str,
    top_k: TopK = 5,
    min_confidence: Score = 0.0,
    mode: SearchMode = SearchMode.HYBRID,
    topic_path: str | None = None,
    source: str | None = None,
    since: str | None = None,
    until: str | None = None,
    node_id: str | None = None,
    neighbours: bool = False,
    candidates: bool = False,
) -> list[FoundFact]:
    """Find the facts of a subject that answer a query, by meaning and by words, best first.

    Args:
        query: What you want to know, in your own words.
        subject_id: The subject to search, by its id or its name.
        top_k: How many facts at most.
        min_confidence: Leave out facts below this confidence, 0 to 1.
        mode: vector ranks by meaning alone, text by shared words alone, such as names and numbers.
        topic_path: Only facts at this topic path or below it, such as area/topic.
        source: Only facts that rest on this address, or on a domain such as example.org.
        since: Only facts stored since this date, such as 2026-03-01.
        until: Only facts stored before this date.
        node_id: Only facts that belong to this node of the coverage map.
        neighbours: With node_id, also facts of its parent, children, siblings and prerequisites.
        candidates: Also facts whose confidence is not high enough yet, and those that their sources say no more.

    Returns:
        For each fact its id, content, quote, context (the heading and lead-in that stand around the quote), quote_state (verified
        or unverified), source_url, source_score,
        topic_path, confidence, status, score (what they are ordered by, higher is better), similarity (cosine to the
        query), corroborations (how many further sources say the same), contradicted_by (ids of facts that say
        otherwise), observed_at (when the source was read), valid_from and valid_until (since and until when it is so, where
        its words say it), ground (whether source_url still says so: stands; context changed, as the quote stands there among
        other words than when it was judged; source changed, source gone or source retracted),
        superseded_by (the fact that it says instead by now), and recall (the share of the nearest facts that
        this search was measured to find).
    """
    filters = Filters(
        subject_id,
        min_confidence,
        candidates,
        topic_path=topic_path,
        source=source,
        since=since,
        until=until,
        node_id=node_id,
        neighbours=neighbours,
    )
    return await store.search.find(query, filters=filters, limit=top_k, mode=mode)
