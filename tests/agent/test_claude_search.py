from decimal import Decimal

from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, says, text, turn

from chiron_workers.states import Outcome
from chiron_workers.tools import registry

FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "url": "https://example.org/tides",
            "title": "Tides",
            "encrypted_content": "x",
            "page_age": "May 2026",
        }
    ],
}
USAGE = {"input_tokens": 1000, "output_tokens": 100, "server_tool_use": {"web_search_requests": 1}}


def is_search(request: dict[str, object]) -> bool:
    return any(str(tool.get("type", "")).startswith("web_search") for tool in request["tools"])  # type: ignore[attr-defined]


async def test_the_models_own_search_discovers_sources_and_is_paid_for_with_the_run(stage: Stage) -> None:
    stage.registry = registry()

    def script(request: dict[str, object]) -> Says | Fails:
        if is_search(request):
            return Says((FOUND, text("One page.")), usage=USAGE)  # type: ignore[arg-type]
        return [calls(call("web_search", query="tides", subject_id="physics")), says("x")][turn(request)]

    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    shown = stage.server.requests[-1]["messages"][-1]["content"][0]["content"]
    assert "https://example.org/tides" in shown
    paid = (await stage.rows("select cost_usd from tool_results"))[0]["cost_usd"]
    assert paid == Decimal("0.016")  # 1000 x $4 + 100 x $20 per million, and $10 per 1000 searches
    spent = (await stage.row(run_id))["spent_usd"]
    replies = (await stage.rows("select sum(cost_usd) as usd from entries"))[0]["usd"]
    assert spent == paid + replies
    assert (await stage.rows("select spent_usd from batches"))[0]["spent_usd"] == spent


async def test_a_search_that_the_model_refuses_is_an_error_the_agent_can_read(stage: Stage) -> None:
    stage.registry = registry()

    def script(request: dict[str, object]) -> Says | Fails:
        if is_search(request):
            return Fails(status=400, type="invalid_request_error", message="web search is not enabled")
        return [calls(call("web_search", query="tides", subject_id="physics")), says("x")][turn(request)]

    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    result = stage.server.requests[-1]["messages"][-1]["content"][0]
    assert result["is_error"]
    assert "web search is not enabled" in result["content"]
