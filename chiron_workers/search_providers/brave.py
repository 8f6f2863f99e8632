from chiron_workers.search_providers.http import address_of, ask, key_of, needs_key, results
from chiron_workers.search_providers.provider import Hit, ranked
from chiron_workers.store import Store

NAME = "brave"
URL = "https://api.search.brave.com"
COUNT_MAX = 20

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What the Brave Search API finds on the web."""
    found = await ask(
        NAME,
        f"{address_of(NAME, URL)}/res/v1/web/search",
        headers={"Accept": "application/json", "X-Subscription-Token": key_of(NAME)},
        params={"q": query, "count": str(min(limit, COUNT_MAX)), "text_decorations": "false"},
    )
    pages = results(NAME, found, "web", "results")
    return ranked(((one.get("url"), one.get("title"), one.get("description")) for one in pages), limit=limit)
