from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chiron_api.requests import Wire, body, services
from chiron_workers.store.search import Filters


class Search(Wire):
    """What is looked for, and where; without a subject in all of them."""

    query: Annotated[str, Field(min_length=1, max_length=4_000)]
    subject_id: Annotated[str, Field(min_length=1)] | None = None
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


async def search(request: Request) -> JSONResponse:
    """The facts nearest in meaning, best first; where there are fewer than asked for, `unembedded` counts those
    that another embedding model's vectors hide."""
    wanted = await body(request, Search)
    async with services(request).store() as store:
        filters = Filters(wanted.subject_id, wanted.min_confidence)
        facts = await store.search.find(wanted.query, filters=filters, limit=wanted.top_k)
        if len(facts) == wanted.top_k:
            return JSONResponse({"items": facts})
        # Counting costs as much as a search, so only those who miss something pay for it.
        unembedded = await store.search.unembedded(wanted.subject_id)
    return JSONResponse({"items": facts, "unembedded": unembedded})


routes = [Route("/v1/knowledge/search", search, methods=["POST"])]
