from chiron_workers.errors import ToolError
from chiron_workers.search_providers.http import base_url, needs_address, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "searxng"
IS_FREE = True

missing = needs_address(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search with the engines of the user's SearXNG server."""
    payload = await request_json(NAME, f"{base_url(NAME)}/search", params={"q": query, "format": "json"})
    pages = result_objects(NAME, payload, "results")
    if not pages and (unresponsive := payload.get("unresponsive_engines")):
        names = ", ".join(str(engine[0]) for engine in unresponsive if isinstance(engine, list) and engine)
        raise ToolError(
            f"The search provider {NAME} found nothing, since its engines do not answer: {names}."
        )
    return ranked_hits(
        ((engine.get("url"), engine.get("title"), engine.get("content")) for engine in pages), limit=limit
    )
