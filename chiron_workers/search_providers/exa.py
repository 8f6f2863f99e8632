from typing import Any

from chiron_workers.search_providers.http import api_key, base_url, needs_key, request_json, result_objects
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.store import Store

NAME = "exa"
URL = "https://api.exa.ai"

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What Exa finds on the web, with the passages it thinks best."""
    found = await request_json(
        NAME,
        f"{base_url(NAME, URL)}/search",
        headers={"x-api-key": api_key(NAME)},
        body={"query": query, "type": "auto", "numResults": limit, "contents": {"highlights": True}},
    )
    pages = result_objects(NAME, found, "results")
    return ranked_hits(((one.get("url"), one.get("title"), _passages(one)) for one in pages), limit=limit)


def _passages(result: dict[str, Any]) -> str:
    found = result.get("highlights")
    return " … ".join(part for part in found if isinstance(part, str)) if isinstance(found, list) else ""
