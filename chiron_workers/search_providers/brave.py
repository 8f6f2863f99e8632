from chiron_workers.search_providers.http import api_key, base_url, needs_key, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "brave"
URL = "https://api.search.brave.com"
COUNT_MAX = 20

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search the web with the Brave Search API."""
    payload = await request_json(
        NAME,
        f"{base_url(NAME, URL)}/res/v1/web/search",
        headers={"Accept": "application/json", "X-Subscription-Token": api_key(NAME)},
        params={"q": query, "count": str(min(limit, COUNT_MAX)), "text_decorations": "false"},
    )
    pages = result_objects(NAME, payload, "web", "results")
    return ranked_hits(
        ((page.get("url"), page.get("title"), page.get("description")) for page in pages), limit=limit
    )
