from chiron_workers.errors import ToolError
from chiron_workers.search_providers.http import base_url, needs_address, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "searxng"

missing = needs_address(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What a SearXNG server of one's own finds in the engines it asks."""
    found = await request_json(NAME, f"{base_url(NAME)}/search", params={"q": query, "format": "json"})
    pages = result_objects(NAME, found, "results")
    if not pages and (silent := found.get("unresponsive_engines")):
        names = ", ".join(str(one[0]) for one in silent if isinstance(one, list) and one)
        raise ToolError(
            f"The search provider {NAME} found nothing, since its engines do not answer: {names}."
        )
    return ranked_hits(((one.get("url"), one.get("title"), one.get("content")) for one in pages), limit=limit)
