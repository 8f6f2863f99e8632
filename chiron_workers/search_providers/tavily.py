from chiron_workers.search_providers.http import address_of, ask, key_of, needs_key, results
from chiron_workers.search_providers.provider import Hit, ranked
from chiron_workers.store import Store

NAME = "tavily"
URL = "https://api.tavily.com"

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What Tavily finds on the web."""
    found = await ask(
        NAME,
        f"{address_of(NAME, URL)}/search",
        headers={"Authorization": f"Bearer {key_of(NAME)}"},
        body={"query": query, "max_results": limit, "search_depth": "basic"},
    )
    pages = results(NAME, found, "results")
    return ranked(((one.get("url"), one.get("title"), one.get("content")) for one in pages), limit=limit)
