from typing import Any

from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed, ToolError
from chiron_workers.runs.entries import Block
from chiron_workers.search_providers.provider import Hit, ranked_hits
from chiron_workers.settings import Settings
from chiron_workers.store import Store

TOOL = {"type": "web_search_20260318", "name": "web_search", "max_uses": 1}
MAX_TOKENS = 1_024
IS_FREE = True  # beside the model call that it is
TIMEOUT_S = 100.0  # It is a model call, which may be billed even if it is cancelled.


def missing(config: Settings) -> str:
    """The setting that turns it on, if it is off."""
    return "" if config.claude_search else "CHIRON_CLAUDE_SEARCH is off."


async def search(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Search with Anthropic's server-side tool; no hits if the run's model does not offer it.

    The search is a model call and is charged to the run's budget.
    """
    side_model = store.side_model
    if side_model is None or not side_model.model_name.startswith("claude"):
        return []
    try:
        reply = await side_model.ask(f"Search the web for: {query}", tools=[TOOL], max_tokens=MAX_TOKENS)
    except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved) as error:
        raise ToolError(f"The web search does not answer: {error}") from None
    results = [result for block in reply.content for result in _results(block)]
    return ranked_hits(
        ((result["url"], result.get("title"), _snippet(result)) for result in results), limit=limit
    )


def _results(block: Block) -> list[dict[str, Any]]:
    content = block.get("content") if block["type"] == "web_search_tool_result" else None
    # The content of a failed search is an object, not a list.
    results = content if isinstance(content, list) else []
    return [result for result in results if isinstance(result, dict) and isinstance(result.get("url"), str)]


def _snippet(result: dict[str, Any]) -> str:
    age = f"Published or changed: {result['page_age']}. " if result.get("page_age") else ""
    return f"{age}Read it with web_fetch; this search shows no text."
