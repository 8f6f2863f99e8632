import asyncio
from typing import Any

from chiron_workers.errors import ToolError
from chiron_workers.search_providers.http import base_url
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.settings import settings
from chiron_workers.store import Store

NAME = "duckduckgo"
URL = "https://html.duckduckgo.com"
# It needs no key, but it is a page made for people: whoever wants it asked by a program says so.
ON_REQUEST = True


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What DuckDuckGo's page of results shows."""
    found = await asyncio.to_thread(_results, query)
    return ranked_hits(((one.href, one.title, one.body) for one in found), limit=limit)


def _results(query: str) -> list[Any]:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException

    engine = Duckduckgo(timeout=max(1, int(settings().search_timeout_s)))
    # A query with a bang ("!w tides") is answered with a redirect that would carry its words to any of thousands of sites.
    engine.http_client.client.follow_redirects = False
    engine.search_url = f"{base_url(NAME, URL)}/html/"
    try:
        found = engine.search(query)
    except DDGSException:
        raise ToolError(f"The search provider {NAME} cannot be reached; try again later.") from None
    if found is None:  # any status but 200; it turns programs away with 202
        raise ToolError(
            f"The search provider {NAME} turns searches from here away for now; wait, or use another provider."
        )
    return found
