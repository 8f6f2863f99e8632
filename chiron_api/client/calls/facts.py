"""Searches for facts."""

from datetime import datetime
from typing import Literal

from chiron_api.answers.facts import FoundFacts
from chiron_api.client.call import Call, fields

SearchMode = Literal["hybrid", "vector", "text"]


def search(  # noqa: PLR0913  # the filters of a search
    query: str,
    *,
    top_k: int = 5,
    mode: SearchMode = "hybrid",
    subject_id: str | None = None,
    min_confidence: float = 0.0,
    candidates: bool = False,
    topic_path: str | None = None,
    source: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    validated_since: datetime | None = None,
    node_id: str | None = None,
    neighbours: bool = False,
) -> Call[FoundFacts]:
    """The facts that fit a query best, in `items`; without a subject all of them are searched.

    Args:
        candidates: Also facts that are not sure enough.
        source: A word of the address of a source.
        node_id: Only facts of this node of the coverage map; with `neighbours` also those around it.
    """
    body = fields(
        query=query,
        top_k=top_k,
        mode=mode,
        subject_id=subject_id,
        min_confidence=min_confidence,
        candidates=candidates,
        topic_path=topic_path,
        source=source,
        since=since,
        until=until,
        validated_since=validated_since,
        node_id=node_id,
        neighbours=neighbours,
    )
    return Call("POST", "/v1/knowledge/search", FoundFacts, body=body, is_repeatable=True)
