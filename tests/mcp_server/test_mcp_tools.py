import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp_server.conftest import KEY, Serving, Talking, over_http
from mcp_types import CallToolResult
from workers import rows

from chiron_api.mcp_server.hints import HINTS
from chiron_api.mcp_server.offer import offer
from chiron_workers.settings import Settings
from chiron_workers.tools import registry

KNOWLEDGE = {
    "store_knowledge",
    "vector_search",
    "get_active_subject",
    "set_active_subject",
    "list_subjects",
    "get_learning_goal",
    "save_learning_goal",
    "get_knowledge_node",
    "get_knowledge_tree",
    "save_knowledge_node",
    "get_user_progress",
    "record_assessment",
}
FACT: dict[str, Any] = {
    "content": "Water boils at 100 °C at sea level.",
    "subject_id": "Physics",
    "source_url": "https://example.org/water",
    "source_score": 0.9,
    "topic_path": "water/boiling",
    "confidence": 0.9,
}


def text(result: CallToolResult) -> str:
    [block] = result.content
    return block.text


async def call(client: Client, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text(result)
    return json.loads(text(result))


def test_what_makes_sense_outside_a_run_is_offered():
    names = {tool.name for tool in offer().all()}
    assert names >= KNOWLEDGE | {"search", "start_research", "get_run", "cancel_run"}
    assert names.isdisjoint({"notes", "read_result"})


def test_hints_are_given_for_tools_that_exist():
    assert HINTS.keys() <= {tool.name for tool in offer().all()}


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_client_lists_the_tools_with_their_schemas_as_agents_get_them(talking: Talking, mode: str):
    async with talking(mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for tool in offer().all():
            assert listed[tool.name].input_schema == tool.input_schema
            assert listed[tool.name].description == tool.description
    assert registry().get("vector_search").input_schema == listed["vector_search"].input_schema
    assert listed["vector_search"].annotations.read_only_hint
    assert not listed["store_knowledge"].annotations.read_only_hint


async def test_what_one_call_stores_the_next_one_finds(talking: Talking, settings: Settings):
    async with talking() as client:
        stored = await client.call_tool("store_knowledge", FACT)
        assert stored.structured_content["status"] == "stored"
        [found] = await call(client, "search", query="When does water boil?")
        assert found["content"] == FACT["content"]
        [same] = await call(client, "vector_search", query="boiling water", subject_id="physics", top_k="1")
        assert same["id"] == found["id"] == stored.structured_content["fact_id"]
    assert rows(settings, "select count(*) from facts")[0]["count"] == 1


async def test_wrong_arguments_are_answered_with_a_line_for_each(talking: Talking):
    async with talking() as client:
        result = await client.call_tool("vector_search", {"query": 1, "top_k": "many", "limit": 3})
    assert result.is_error
    assert sorted(text(result).splitlines()) == [
        "limit: is not an argument; the tool takes query, subject_id, top_k, min_confidence",
        "subject_id: is required (a string)",
        "top_k: must be a whole number from 1 to 50 (got 'many')",
    ]


async def test_an_unknown_tool_is_named(talking: Talking):
    async with talking() as client:
        result = await client.call_tool("store_nothing", {})
    assert result.is_error
    assert "store_nothing" in text(result)


async def test_what_is_too_long_is_refused_and_shown_cut(talking: Talking, settings: Settings):
    async with talking() as client:
        result = await client.call_tool("store_knowledge", FACT | {"content": "x" * 3_000_000})
        assert result.is_error
        assert "4,000" in text(result)
        assert len(text(result)) < 500
        assert (await call(client, "list_subjects")) == []
    assert rows(settings, "select 1 from facts") == []


async def test_a_long_result_is_cut_and_says_so(talking: Talking):
    async with talking(CHIRON_TOOL_RESULT_CHARS="1000") as client:
        for n in range(10):
            await call(client, "save_learning_goal", subject_id=f"Subject {n}", purpose_statement="why " * 20)
        result = await client.call_tool("list_subjects", {})
    assert not result.is_error
    assert len(text(result)) <= 1000
    assert "[Cut here, at 800 of" in text(result)
    assert result.structured_content is None


async def test_calls_at_the_same_time_each_get_their_answer(talking: Talking, settings: Settings):
    async with talking() as client:
        names = [f"Subject {n}" for n in range(30)]
        saved = await asyncio.gather(
            *(call(client, "save_learning_goal", subject_id=name, purpose_statement="why") for name in names)
        )
    assert [one["title"] for one in saved] == names
    assert rows(settings, "select count(*) from subjects")[0]["count"] == 30


async def test_over_http_the_same_is_offered(serving: Serving):
    with serving(CHIRON_API_KEY=KEY) as url:
        for mode in ("2026-07-28", "legacy"):
            async with over_http(url, mode=mode, key=KEY) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} >= KNOWLEDGE
                stored = await client.call_tool("store_knowledge", FACT)
                assert stored.structured_content["status"] in ("stored", "duplicate")
