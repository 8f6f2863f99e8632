from typing import Any

from chiron_workers.search_providers.http import api_key, base_url, needs_key, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "exa"
URL = "https://api.exa.ai"

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search the web with Exa; snippets are its highlights."""
    payload = await request_json(
        NAME,
        f"{base_url(NAME, URL)}/search",
        headers={"x-api-key": api_key(NAME)},
        body={"query": query, "type": "auto", "numResults": limit, "contents": {"highlights": True}},
    )
    pages = result_objects(NAME, payload, "results")
    return ranked_hits(((page.get("url"), page.get("title"), _passages(page)) for page in pages), limit=limit)


def _passages(result: dict[str, Any]) -> str:
    highlights = result.get("highlights")
    texts = highlights if isinstance(highlights, list) else []
    return " … ".join(text for text in texts if isinstance(text, str))
