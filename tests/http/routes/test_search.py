"""The command, the tools of agents, MCP and HTTP give the same answer to the same question."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from support.facts_with_vectors import corroborate, keep, link
from typer.testing import CliRunner

from chiron_api.acts.search import SearchRequest
from chiron_api.cli import build
from chiron_api.mcp_server.act_tools import calling
from chiron_api.mcp_server.tools import client_tools
from chiron_api.services import Services
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.pubsub.streams import Streams
from chiron_workers.settings import Settings
from chiron_workers.settings import settings as read_settings
from chiron_workers.tools import registry
from chiron_workers.worker.fleet import SharedFleet

SEARCHES: list[dict[str, Any]] = [
    {"mode": "hybrid"},
    {"mode": "vector"},
    {"mode": "text", "top_k": 2},
    {"candidates": True, "topic_path": "orbit"},
    {"source": "example.org", "since": "2026-01-01T00:00:00Z", "min_confidence": 0.5},
]
OPTIONS = {"topic_path": "--topic", "candidates": "--candidates"}


@pytest.fixture
async def known(pool: Pool, embedder: Embedder) -> None:
    """Facts about the Moon, one of them contradicted, one corroborated and one a candidate."""
    far = await keep(pool, embedder, "The Moon orbits at 384,400 km.")
    near = await keep(pool, embedder, "The Moon orbits at 300,000 km.")
    await link(pool, near, far, "contradicts")
    await corroborate(pool, far, "https://other.example")
    await keep(pool, embedder, "The Moon drifts away.", status="candidate", confidence=0.4)
    await keep(pool, embedder, "Dust covers the Moon.", topic_path="ground", source_url="https://b.example")


async def through_tools(services: Services, asked: dict[str, Any]) -> list[Any]:
    answers = []
    for tools, name in ((registry(), "vector_search"), (client_tools(), "search")):
        async with services.store() as store:
            with calling(services):
                answers.append(await tools.execute(name, store, asked))
    return answers


def through_the_command(settings: Settings, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("home", "database_url", "redis_url"):
        monkeypatch.setenv(f"CHIRON_{name.upper()}", str(getattr(settings, name)))
    read_settings.cache_clear()
    options = []
    for name, value in asked.items():
        if name not in ("query", "subject_id"):
            option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
            options += [option] if value is True else [option, str(value)]
    found = CliRunner().invoke(build(), ["search", asked["query"], "--subject", "moon", "--json", *options])
    return json.loads(found.stdout)


async def test_command_tools_mcp_and_http_give_the_same_answer(
    pool: Pool,
    embedder: Embedder,
    settings: Settings,
    client: httpx2.AsyncClient,
    known: None,
    monkeypatch: pytest.MonkeyPatch,
):
    services = Services(
        settings, pool, lambda: embedder, Streams(pool, settings.redis_url), SharedFleet(pool, settings)
    )
    for search in SEARCHES:
        asked = {"query": "How far away does the Moon orbit?", "subject_id": "moon", **search}
        over_http = (await client.post("/v1/knowledge/search", json=asked)).json()["items"]
        assert over_http
        assert await through_tools(services, asked) == [over_http, over_http]
        assert await asyncio.to_thread(through_the_command, settings, asked, monkeypatch) == over_http
    read_settings.cache_clear()


async def test_what_makes_no_sense_is_a_problem_that_names_the_field(client: httpx2.AsyncClient):
    for wrong in (
        {"mode": "fuzzy"},
        {"since": "yesterday"},
        {"node_id": "x"},
        {"neighbours": True},
        {"topic_path": "/"},
    ):
        answer = await client.post("/v1/knowledge/search", json={"query": "x"} | wrong)
        assert answer.status_code == 422, wrong
        assert next(iter(wrong)) in json.dumps(answer.json()), wrong


async def test_a_search_of_a_subject_that_is_not_there_names_the_nearest(
    client: httpx2.AsyncClient, known: None
):
    answer = await client.post("/v1/knowledge/search", json={"query": "orbit", "subject_id": "mooon"})
    assert answer.status_code == 404
    assert "There is no subject 'mooon'. The nearest: moon." in answer.json()["detail"]
    empty = await client.post(
        "/v1/knowledge/search", json={"query": "orbit", "subject_id": "moon", "source": "c.example"}
    )
    assert (empty.status_code, empty.json()["items"]) == (200, [])


def test_the_tool_of_mcp_takes_every_option_of_the_route():
    options = client_tools().get("search").input_schema["properties"]
    assert set(options) == set(SearchRequest.model_fields)
