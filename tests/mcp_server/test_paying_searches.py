"""Who pays for the embedding of a query over MCP."""

import json
from decimal import Decimal

from mcp_server.conftest import KEY, Serving, over_http
from support.facts_with_vectors import keep
from support.scripted_services import MODEL, hosted_embedder, hosted_services

from chiron_workers.access.allotments import committed_usd
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

TOOLS = {"search": {"query": "tides"}, "vector_search": {"query": "tides", "subject_id": "moon"}}


async def test_read_keys_search_over_mcp_by_what_their_budgets_pay(
    serving: Serving, pool: Pool, settings: Settings
) -> None:
    secret, key = await create_key(pool, NewKey("payer", AccessScope.READ, budget_usd=Decimal(1)))
    poor, _ = await create_key(pool, NewKey("poor", AccessScope.READ))
    async with hosted_services() as services:
        async with hosted_embedder(services.configure(settings)) as embedder:
            await keep(pool, embedder, "The tides follow the moon.")
        variables = {f"CHIRON_{name}": value for name, value in services.variables.items()}
        variables["CHIRON_MODEL"] = "claude-opus-5-5"  # runs of the offline model search no web
        variables["CHIRON_SERVICE_PRICES"] = json.dumps({MODEL: {"per_million_tokens": 60}, "brave": 0.005})
        with serving(CHIRON_API_KEY=KEY, **variables) as url:
            async with over_http(url, key=secret) as client:
                for tool, arguments in TOOLS.items():
                    [block] = (await client.call_tool(tool, arguments)).content
                    assert json.loads(block.text)[0]["similarity"] is not None
                found = await client.call_tool("web_search", {"query": "tides", "subject_id": "moon"})
                assert "https://example.org/tides" in found.content[0].text
            assert (await committed_usd(pool, [key.id]))[key.id] == 2 * Decimal("0.0006") + Decimal("0.005")
            asked = len(services.embedded)
            async with over_http(url, key=poor) as client:
                for tool, arguments in TOOLS.items():
                    answer = await client.call_tool(tool, arguments)
                    facts, note = answer.content
                    assert json.loads(facts.text)[0]["similarity"] is None
                    assert "The key 'poor' may only read and has no budget" in note.text
                    assert answer.meta is not None
                    assert answer.meta["words_only"] == note.text
                refusal = await client.call_tool("web_search", {"query": "tides", "subject_id": "moon"})
                assert refusal.is_error
                assert "brave costs money for each call" in refusal.content[0].text
            assert len(services.embedded) == asked
            assert services.searched == ["tides"]
