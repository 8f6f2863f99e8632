from typing import Annotated

from pydantic import Field
from starlette.responses import JSONResponse

from chiron_api.acts.inputs import INTEGER, AnyTime, Flag, Input, Share
from chiron_api.answers.facts import FoundFacts
from chiron_api.http.dependencies import StoreOpener
from chiron_api.http.routing import api_router
from chiron_workers.knowledge.search.filters import SOURCE_CHARS_MAX, Filters
from chiron_workers.knowledge.search.search import QUERY_CHARS_MAX, RESULTS_MAX
from chiron_workers.states import SearchMode

router = api_router("Facts")

Name = Annotated[str, Field(min_length=1, max_length=SOURCE_CHARS_MAX)]


class SearchRequest(Input):
    """A question and its filters; without a subject all of them are searched."""

    query: Annotated[str, Field(min_length=1, max_length=QUERY_CHARS_MAX)]
    top_k: Annotated[int, Field(ge=1, le=RESULTS_MAX), INTEGER] = 5
    mode: SearchMode = SearchMode.HYBRID
    subject_id: Name | None = None
    min_confidence: Share = 0.0
    candidates: Flag = False
    topic_path: Name | None = None
    source: Name | None = None
    since: AnyTime | None = None
    until: AnyTime | None = None
    validated_since: AnyTime | None = None
    node_id: Annotated[Name, Field(json_schema_extra={"format": "uuid"})] | None = None
    neighbours: Flag = False


@router.post("/v1/knowledge/search", summary="Search the facts", response_model=FoundFacts)
async def search_facts(options: SearchRequest, open_store: StoreOpener) -> JSONResponse:
    """The best facts first; where there are fewer than asked for, `unembedded` counts those that, stored under another
    embedding model, are found by their words only. Where embeddings are hosted, the budget of the key pays for that of the query;
    `words_only` is true where it cannot, and `note` says why."""
    filters = Filters(**options.model_dump(exclude={"query", "top_k", "mode"}))
    async with open_store() as store:
        facts = await store.search.find(
            options.query, filters=filters, limit=options.top_k, mode=options.mode
        )
        note = store.search.words_only
        answer: dict[str, object] = {"items": facts} | ({"words_only": True, "note": note} if note else {})
        if len(facts) < options.top_k:
            # Counting costs as much as a search, so only those who miss something pay for it.
            answer["unembedded"] = await store.search.unembedded(options.subject_id)
    return JSONResponse(answer)
