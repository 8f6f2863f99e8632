import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_server.conftest import KEY, Serving, Talking, over_http
from mcp_types import CallToolResult
from psycopg import AsyncConnection
from support.knowledge_tool_names import TWELVE
from support.verified_quotes import page_read
from support.worker_processes import rows, wait_until

from chiron_api.mcp_server.instructions import hints_of
from chiron_api.mcp_server.research import cancel_run
from chiron_api.mcp_server.tools import client_tools
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.roles import role_names
from chiron_workers.settings import Settings
from chiron_workers.store import Store
from chiron_workers.toolkit.tool import Tool

FACT: dict[str, Any] = {
    "content": "Water boils at 100 °C at sea level.",
    "subject_id": "Physics",
    "source_url": "https://example.org/water",
    "source_score": 0.9,
    "topic_path": "water/boiling",
    "confidence": 0.9,
    "quote": "Water boils at 100 °C at sea level.",
}
JSON_SCHEMA = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "examples",
    "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems",
    "minLength", "minimum", "oneOf", "pattern", "properties", "required", "type", "uniqueItems",
}  # fmt: skip
MODES = ("2026-07-28", "legacy")
OWN_TOOL = '''
from chiron_workers.toolkit import tool

@tool
def shout(words: str) -> str:
    """Say it loud.

    Args:
        words: What to say.
    """
    if not words:
        raise RuntimeError("the secret of this test")
    return words.upper() * 2_000
'''


def text(result: CallToolResult) -> str:
    [block] = result.content
    return block.text


async def call(client: Client, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text(result)
    return json.loads(text(result))


def test_what_makes_sense_outside_a_run_is_offered():
    names = {tool.name for tool in client_tools().all()}
    assert names >= TWELVE | {
        "search",
        "start_research",
        "get_run",
        "cancel_run",
        "write_report",
        "get_report",
    }
    assert names.isdisjoint({"notes", "read_result"})


def test_hints_say_what_a_tool_changes_and_whom_it_asks():
    hints = {tool.name: hints_of(tool.name) for tool in client_tools().all()}
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {
        "cancel_run",
        "decide_proposal",
        "save_knowledge_node",
        "save_learning_goal",
    }
    assert not any(hint.destructive_hint for hint in hints.values() if hint.read_only_hint)
    readers_of_the_web = {
        name for name, hint in hints.items() if hint.read_only_hint and hint.open_world_hint
    }
    assert readers_of_the_web == {"web_fetch", "web_search"}
    for name, is_idempotent in (("start_quiz", True), ("cancel_run", True), ("order_lesson", False)):
        assert hints[name].idempotent_hint is is_idempotent, name
    assert hints["start_research"].open_world_hint
    own_hints = hints_of("a_tool_of_the_operator")
    assert (own_hints.read_only_hint, own_hints.destructive_hint) == (False, True)


@pytest.mark.parametrize("tool", client_tools().all(), ids=lambda tool: tool.name)
def test_schemas_have_keywords_of_json_schema_alone(tool: Tool):
    unknown_words = set(keywords(tool.input_schema)) - JSON_SCHEMA
    assert unknown_words == set()


def keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of those in it."""
    for keyword, value in schema.items():
        yield keyword
        if keyword in ("properties", "$defs"):
            for inner in value.values():
                yield from keywords(inner)
        elif keyword in ("items", "additionalProperties") and isinstance(value, dict):
            yield from keywords(value)
        elif keyword in ("anyOf", "oneOf"):
            for inner in value:
                yield from keywords(inner)


@pytest.mark.parametrize("id", ["last", "019e2a7c", "Heat pumps", ""])
async def test_only_a_whole_id_cancels_research(store: Store, id: str):
    with pytest.raises(ToolError, match="is no id"):
        await cancel_run(store, id=id)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("start_research", ["get_run", "search finds"]),
        ("check_subject", ["get_run"]),
        ("order_lesson", ["get_run", "list_lessons"]),
        ("order_questions", ["get_run", "start_quiz"]),
        ("start_quiz", ["answer_question", "word for word"]),
        ("get_quiz", ["marked_by"]),
        ("write_report", ["get_run", "get_report"]),
    ],
)
def test_a_tool_says_what_to_call_next(name: str, steps: list[str]):
    description = client_tools().get(name).description
    assert [step for step in steps if step not in description] == []


def test_a_wrong_amount_is_refused_in_words_without_a_pattern():
    with pytest.raises(
        ToolValidationError, match=r"budget_usd: must be a number above 0 or null \(got '\$3'\)"
    ):
        client_tools().get("start_research").validate(
            {"topics": ["Ice"], "subject": "Sea", "budget_usd": "$3"}
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"topics": [{"topic": "a", "budget_usd": -1}]}, "topics[0].budget_usd: must be a number above 0"),
        ({"topics": ["a", {"topic": "b", "buget": 1}]}, "topics[1].buget: is not known; known are topic, "),
        ({"topics": [{"subject": "b"}]}, "topics[0].topic: is required (a string of 1 to 4000 characters)"),
        ({"topics": [["a"]]}, 'topics[0]: must be a string of 1 to 4000 characters or an object (got ["a"])'),
        (
            {"topics": ["a"], "columns": [{"name": "year", "type": "zz"}]},
            "columns[0].type: must be one of text|",
        ),
    ],
)
def test_what_is_wrong_inside_a_topic_or_a_column_is_named(arguments: dict[str, Any], sentence: str):
    with pytest.raises(ToolValidationError) as caught:
        client_tools().get("start_research").validate(arguments | {"subject": "Ice"})
    assert str(caught.value).startswith(sentence)


async def test_over_standard_streams_the_tools_are_those_of_agents_and_what_one_stores_the_next_finds(
    talking: Talking, settings: Settings
):
    async with open_pool(settings.database_url, size=2) as pool:
        await page_read(pool, FACT["source_url"], FACT["quote"])
    async with talking("legacy") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for tool in client_tools().all():
            assert listed[tool.name].input_schema == tool.input_schema
            assert listed[tool.name].description == tool.description
        assert listed["vector_search"].annotations.read_only_hint
        assert not listed["store_knowledge"].annotations.read_only_hint
        stored = await client.call_tool("store_knowledge", FACT)
        assert stored.structured_content["status"] == "stored"
        [found] = await call(client, "search", query="When does water boil?")
        assert found["content"] == FACT["content"]
        [same] = await call(client, "vector_search", query="boiling water", subject_id="physics", top_k="1")
        assert same["id"] == found["id"] == stored.structured_content["fact_id"]
    assert rows(settings, "select count(*) from facts")[0]["count"] == 1


async def test_over_http_the_same_is_offered_in_both_eras_and_wrong_calls_are_answered_in_sentences(
    serving: Serving, settings: Settings
):
    with serving(CHIRON_API_KEY=KEY) as url:
        for mode in MODES:
            async with over_http(url, mode=mode, key=KEY) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} >= TWELVE
                await wrong_arguments_are_answered_with_a_line_for_each(client)
                await an_unknown_tool_is_named(client)
                await what_is_too_long_is_refused(client, settings)
                await calls_at_the_same_time_each_get_their_answer(client)
    assert rows(settings, "select count(*) from subjects")[0]["count"] == 30


async def wrong_arguments_are_answered_with_a_line_for_each(client: Client) -> None:
    result = await client.call_tool("vector_search", {"query": 1, "top_k": "many", "limit": 3})
    assert result.is_error
    assert sorted(text(result).splitlines()) == [
        "limit: is not an argument; the tool takes query, subject_id, top_k, min_confidence, mode, topic_path, source, "
        "since, until, node_id, neighbours, candidates",
        "subject_id: is required (a string)",
        "top_k: must be a whole number from 1 to 100 (got 'many')",
    ]


async def an_unknown_tool_is_named(client: Client) -> None:
    result = await client.call_tool("store_nothing", {})
    assert result.is_error
    assert "store_nothing" in text(result)


async def what_is_too_long_is_refused(client: Client, settings: Settings) -> None:
    result = await client.call_tool("store_knowledge", FACT | {"content": "x" * 3_000_000})
    assert result.is_error
    assert "4,000" in text(result)
    assert len(text(result)) < 500
    assert rows(settings, "select 1 from facts") == []


async def calls_at_the_same_time_each_get_their_answer(client: Client) -> None:
    names = [f"Subject {n}" for n in range(30)]
    saved = await asyncio.gather(
        *(call(client, "save_learning_goal", subject_id=name, purpose_statement="why") for name in names)
    )
    assert [one["title"] for one in saved] == names


async def test_a_file_in_a_folder_of_ones_own_is_offered_too_a_long_result_is_cut_and_a_fault_is_not_shown(
    serving: Serving, settings: Settings, tmp_path: Path
):
    own = settings.home / "own"
    own.mkdir()
    (own / "shout.py").write_text(OWN_TOOL)
    with serving(CHIRON_TOOLS=str(own), CHIRON_TOOL_RESULT_CHARS="1000") as url:
        async with over_http(url) as client:
            shouted = await client.call_tool("shout", {"words": "water"})
            broken = await client.call_tool("shout", {"words": ""})
    assert not shouted.is_error
    assert text(shouted).startswith("WATERWATER")
    assert text(shouted).endswith("\n[Cut here, at 800 of 10,000 characters. Ask for less at a time.]")
    assert shouted.structured_content is None
    assert broken.is_error
    assert text(broken) == "Error calling tool 'shout'"
    assert "the secret of this test" in (tmp_path / "mcp.log").read_text()


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_the_client_gives_up_lets_go_of_the_database(
    serving: Serving, settings: Settings, mode: str
):
    waiting = (
        "select 1 from pg_stat_activity where application_name = 'chiron'"
        " and wait_event_type = 'Lock' and datname = current_database()"
    )
    with serving() as url:
        async with (
            over_http(url, mode=mode) as client,
            await AsyncConnection.connect(settings.database_url) as other,
        ):
            await call(client, "save_learning_goal", subject_id="Physics", purpose_statement="why")
            await other.execute("lock table subjects in access exclusive mode")
            given_up = asyncio.create_task(client.call_tool("list_subjects", {}))
            await asyncio.to_thread(wait_until, lambda: rows(settings, waiting), what="the call waits")
            given_up.cancel()
            await asyncio.to_thread(wait_until, lambda: not rows(settings, waiting), what="it waits no more")
            await other.rollback()
            assert len(await call(client, "list_subjects")) == 1


@pytest.mark.parametrize("name", ["start_research", "create_subscription"])
def test_what_starts_research_names_the_roles_there_are_and_no_others(name: str):
    tool = client_tools().get(name)
    role = tool.input_schema["properties"]["role"]
    assert role["examples"] == list(role_names())
    assert set(re.findall("research|curriculum|lesson|assessment", json.dumps(role))) <= set(role_names())
    arguments = {"topics": ["tides"], "subject": "Sea", "subject_id": "sea", "cron": "0 9 * * *"}
    arguments = {key: value for key, value in arguments.items() if key in tool.input_schema["properties"]}
    tool.validate(arguments | {"role": role_names()[0]})
    with pytest.raises(ToolValidationError, match=r"role: must be one of .*research.* \(got 'astrology'\)"):
        tool.validate(arguments | {"role": "astrology"})
