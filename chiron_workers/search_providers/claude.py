from typing import Any

from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed, ToolError
from chiron_workers.runs.entries import Block
from chiron_workers.search_providers.provider import BEST_SCORE, Hit
from chiron_workers.settings import Settings
from chiron_workers.store import Store

TOOL = {"type": "web_search_20260318", "name": "web_search", "max_uses": 1}
MAX_TOKENS = 1_024
TIMEOUT_S = 100.0  # a model call; one that is cut may be paid for all the same


def missing(known: Settings) -> str:
    """Why it is off, if it is."""
    return "" if known.claude_search else "CHIRON_CLAUDE_SEARCH is off."


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """What Anthropic's server-side search finds, where the run's model offers it; nothing elsewhere.

    The search is a model call: it is paid for with the run's money and counted there.
    """
    side_model = store.side_model
    if side_model is None or not side_model.model_name.startswith("claude"):
        return []
    try:
        reply = await side_model.ask(f"Search the web for: {query}", tools=[TOOL], max_tokens=MAX_TOKENS)
    except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved) as error:
        raise ToolError(f"The web search does not answer: {error}") from None
    found = [result for block in reply.content for result in _results(block)]
    return [_hit(result, rank) for rank, result in enumerate(found[:limit])]


def _results(block: Block) -> list[dict[str, Any]]:
    content = block.get("content") if block["type"] == "web_search_tool_result" else None
    # A search that failed has an object in place of the list.
    return [one for one in content if one.get("url")] if isinstance(content, list) else []


def _hit(result: dict[str, Any], rank: int) -> Hit:
    age = f"Published or changed: {result['page_age']}. " if result.get("page_age") else ""
    return Hit(
        url=result["url"],
        title=result.get("title") or result["url"],
        snippet=f"{age}Read it with web_fetch; this search shows no text.",
        score=round(BEST_SCORE * 0.95**rank, 3),
        source_type="web page",
    )
