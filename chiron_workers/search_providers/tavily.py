from chiron_workers.search_providers.http import api_key, base_url, needs_key, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "tavily"
URL = "https://api.tavily.com"

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search the web with Tavily."""
    payload = await request_json(
        NAME,
        f"{base_url(NAME, URL)}/search",
        headers={"Authorization": f"Bearer {api_key(NAME)}"},
        body={"query": query, "max_results": limit, "search_depth": "basic"},
    )
    pages = result_objects(NAME, payload, "results")
    return ranked_hits(
        ((page.get("url"), page.get("title"), page.get("content")) for page in pages), limit=limit
    )
