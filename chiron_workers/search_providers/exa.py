from typing import Any

from chiron_workers.search_providers.http import address_of, ask, key_of, needs_key, results
from chiron_workers.search_providers.provider import Hit, ranked
from chiron_workers.store import Store

NAME = "exa"
URL = "https://api.exa.ai"

missing = needs_key(NAME)


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What Exa finds on the web, with the passages it thinks best."""
    found = await ask(
        NAME,
        f"{address_of(NAME, URL)}/search",
        headers={"x-api-key": key_of(NAME)},
        body={"query": query, "type": "auto", "numResults": limit, "contents": {"highlights": True}},
    )
    pages = results(NAME, found, "results")
    return ranked(((one.get("url"), one.get("title"), _passages(one)) for one in pages), limit=limit)


def _passages(result: dict[str, Any]) -> str:
    found = result.get("highlights")
    return " … ".join(part for part in found if isinstance(part, str)) if isinstance(found, list) else ""
