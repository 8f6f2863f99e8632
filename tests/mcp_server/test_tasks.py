"""Research started by MCP clients, played by a real worker."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp_server.conftest import Serving, Talking
from mcp_server.test_tools import call, text
from support.worker_processes import rows, running, wait_until

from chiron_workers.settings import Settings

VERSION = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
NOBODY = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"
TOPIC = {"topics": ["How do tides arise?"], "subject": "Physics"}


class Wire:
    """A client that shows each answer as it came, and declares the tasks extension in every request."""

    def __init__(self, url: str, http: httpx2.Client) -> None:
        self.url = url
        self.http = http

    def ask(self, method: str, params: dict[str, Any], *, knows_tasks: bool = True) -> dict[str, Any]:
        capabilities = {"extensions": {TASKS: {}}} if knows_tasks else {}
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
            "Mcp-Name": params.get("name") or params.get("taskId") or "",
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}
        found: dict[str, Any] = self.http.post(self.url, json=body, headers=headers).json()
        return found

    def start(self, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("tools/call", {"name": "start_research", "arguments": arguments})
        return found["result"]

    def task(self, task_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("tasks/get", {"taskId": task_id})["result"]
        return found


@pytest.fixture
def wire(serving: Serving) -> Iterator[Wire]:
    with serving() as url, httpx2.Client(timeout=60, trust_env=False) as http:
        yield Wire(url, http)


@pytest.mark.acceptance
def test_a_client_that_knows_tasks_follows_a_run_as_one_until_a_worker_has_played_it(
    wire: Wire, settings: Settings
):
    discovered = wire.ask("server/discover", {})["result"]
    assert discovered["capabilities"]["extensions"][TASKS] == {}
    created = wire.start(**TOPIC, idempotency_key="tides")
    [run] = rows(settings, "select id, batch_id from runs")
    assert created["resultType"] == "task"
    assert (created["taskId"], created["status"], created["ttlMs"]) == (str(run["id"]), "working", None)
    assert "result" not in created
    assert wire.start(**TOPIC, idempotency_key="tides")["taskId"] == created["taskId"]
    assert wire.task(created["taskId"])["statusMessage"] == "Queued: 0 new facts after 0 turns so far."
    with running(settings):
        done = wait_until(
            lambda: (found := wire.task(created["taskId"]))["status"] != "working" and found, 60, "an end"
        )
    assert (done["status"], done["resultType"]) == ("completed", "complete")
    assert done["result"]["isError"] is False
    told = json.loads(done["result"]["content"][0]["text"])
    assert told == done["result"]["structuredContent"]
    assert told["state"] == "completed"
    assert told["answer"]
    assert done["createdAt"] < done["lastUpdatedAt"]


def test_a_task_can_be_cancelled_and_of_several_topics_it_is_their_batch(wire: Wire, settings: Settings):
    created = wire.start(topics=["tides", "waves"], subject="Physics")
    [batch] = rows(settings, "select id from batches")
    assert created["taskId"] == str(batch["id"])
    for _ in range(2):  # a second time it has ended already, which is no error
        assert wire.ask("tasks/cancel", {"taskId": created["taskId"]})["result"]["resultType"] == "complete"
    assert wire.task(created["taskId"])["status"] == "cancelled"
    assert {row["state"] for row in rows(settings, "select state from runs")} == {"cancelled"}
    acknowledged = wire.ask("tasks/update", {"taskId": created["taskId"], "inputResponses": {}})["result"]
    assert acknowledged.keys() <= {"resultType", "_meta"}


def test_a_task_that_nobody_made_and_a_client_that_knows_no_tasks_are_told_so(wire: Wire, settings: Settings):
    for task_id in (NOBODY, "no id"):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert wire.ask(method, {"taskId": task_id, "inputResponses": {}})["error"]["code"] == -32602
    refused = wire.ask("tasks/get", {"taskId": NOBODY}, knows_tasks=False)["error"]
    assert refused["code"] == -32021
    assert refused["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
    started = wire.ask("tools/call", {"name": "start_research", "arguments": TOPIC}, knows_tasks=False)
    assert started["result"]["resultType"] == "complete"
    assert started["result"]["structuredContent"]["is_new"] is True
    rows_of_runs = rows(settings, "select id from runs")
    assert started["result"]["structuredContent"]["run_ids"] == [str(row["id"]) for row in rows_of_runs]
    wrong = wire.start(topics=[], subject="Physics")
    assert wrong["isError"]
    assert wrong["content"][0]["text"] == "topics: must be a list of 1 to 100000 items (got [])"


async def test_topics_that_are_the_same_are_named_before_anything_is_paid(talking: Talking):
    async with talking("legacy") as client:
        started = await call(client, "start_research", **TOPIC | {"topics": ["Ice", "Snow", " ice"]})
        assert len(started["run_ids"]) == 3
        assert started["warnings"][0].startswith("Topics 1 and 3 are the same, “Ice”")
        assert "warnings" not in await call(client, "start_research", **TOPIC)


async def test_research_is_started_with_all_that_a_batch_has(talking: Talking, settings: Settings):
    topics = ["Ice", {"topic": "Snow", "priority": 7, "budget_usd": 0.5}]
    options = {
        "name": "Water",
        "priority": 3,
        "run_budget_usd": 1,
        "concurrency": 2,
        "ready_at": "2026-10-01T09:30:00Z",
    }
    columns = ["year:int", {"name": "place", "description": "Where it lies"}]
    async with talking("legacy") as client:
        arguments = TOPIC | options | {"topics": topics, "columns": columns}
        assert not (await client.call_tool("start_research", arguments)).is_error
    [batch] = rows(settings, "select name, priority, concurrency, columns from batches")
    assert (batch["name"], batch["priority"], batch["concurrency"]) == ("Water", 3, 2)
    assert [(column["name"], column["type"]) for column in batch["columns"]] == [
        ("year", "int"),
        ("place", "text"),
    ]
    runs = rows(settings, "select topic, priority, budget_usd from runs order by id")
    assert [(run["topic"], run["priority"], float(run["budget_usd"])) for run in runs] == [
        ("Ice", 3, 1), ("Snow", 7, 0.5)
    ]  # fmt: skip


async def test_without_tasks_research_is_started_waited_for_and_cancelled_with_tools(
    talking: Talking, settings: Settings
):
    async with talking("legacy") as client:
        options = {"budget_usd": 2.5, "idempotency_key": "tides", "thinking": "adaptive", "effort": "low"}
        started = await call(client, "start_research", **TOPIC, **options)
        again = await call(client, "start_research", **TOPIC, **options)
        assert again["run_ids"] == started["run_ids"]
        assert rows(settings, "select thinking, effort from runs") == [
            {"thinking": "adaptive", "effort": "low"}
        ]
        other = await client.call_tool(
            "start_research", TOPIC | {"subject": "Chemistry", "idempotency_key": "tides"}
        )
        assert other.is_error
        assert "was used for another request" in text(other)
        assert (await call(client, "get_run", id=started["run_ids"][0], wait_s=0.2))["state"] == "queued"
        batch = await call(client, "get_run", id=started["batch_id"])
        assert (batch["runs"]["queued"], batch["budget_usd"]) == (1, 2.5)
        assert [run["id"] for run in batch["first_runs"]] == started["run_ids"]
        waited = asyncio.create_task(call(client, "get_run", id=started["batch_id"], wait_s=50))
        assert await call(client, "cancel_run", id=started["run_ids"][0]) == {"cancelled": 1, "asked": 0}
        assert (await asyncio.wait_for(waited, 20))["state"] == "cancelled"
        for name, target, words in [
            ("cancel_run", started["batch_id"], "nothing of it can be cancelled"),
            ("get_run", "tides", "is no id"),
            ("get_run", NOBODY, "See the batches"),
        ]:
            refused = await client.call_tool(name, {"id": target})
            assert refused.is_error
            assert words in text(refused)
    assert [row["state"] for row in rows(settings, "select state from runs")] == ["cancelled"]
