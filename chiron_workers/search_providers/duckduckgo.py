import asyncio
from typing import Any

from chiron_workers.errors import ToolError
from chiron_workers.search_providers.http import base_url
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.settings import settings
from chiron_workers.store import Store

NAME = "duckduckgo"
URL = "https://html.duckduckgo.com"
# It needs no key, but the page is made for people: `auto` does not include it.
ON_REQUEST = True
IS_FREE = True


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search the web with DuckDuckGo's HTML page."""
    results = await asyncio.to_thread(_results, query)
    return ranked_hits(((result.href, result.title, result.body) for result in results), limit=limit)


def _results(query: str) -> list[Any]:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException

    engine = Duckduckgo(timeout=max(1, int(settings().search_timeout_s)))
    # A query with a bang ("!w tides") redirects to one of thousands of sites, which would get its words.
    engine.http_client.client.follow_redirects = False
    engine.search_url = f"{base_url(NAME, URL)}/html/"
    try:
        results = engine.search(query)
    except DDGSException:
        raise ToolError(f"The search provider {NAME} cannot be reached; try again later.") from None
    if results is None:  # Any status but 200; programs are turned away with 202.
        raise ToolError(
            f"The search provider {NAME} turns searches from here away for now; wait, or use another provider."
        )
    return results
