"""Runs that use tools of MCP servers, and workers that start them."""

import asyncio
import json
import math
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_client.remote import ADD, KEY, alive, honest, http_server, liar, say, until
from support.json_lines import json_lines
from support.run_harness import Stage, open_stage
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, rows, running, wait_until

from chiron_api.local_stack.ports import free_port
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.mcp_client.servers import Servers
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool
from chiron_workers.toolkit.registry import Registry


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with open_stage(pool, settings, embedder) as made:
        yield made


def configure(settings: Settings, **servers: Any) -> None:
    (settings.home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


@asynccontextmanager
async def serving(registry: Registry, settings: Settings, *expected: str) -> AsyncIterator[None]:
    """The servers of a worker; the block begins when these tools are there."""
    servers = Servers(registry, settings)
    servers.start()
    try:
        await servers.wait_for_first_attempts()
        await until(lambda: set(expected) <= set(remote(registry)))
        yield
    finally:
        await servers.stop()


def remote(registry: Registry) -> list[str]:
    return [tool.name for tool in registry.all() if "__" in tool.name]


def results(stage: Stage) -> list[str]:
    """What the model was told of its calls, in the last request."""
    messages = stage.server.requests[-1]["messages"]
    blocks = [block for message in messages if message["role"] == "user" for block in message["content"]]
    return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


async def test_a_run_uses_tools_of_two_servers_that_share_their_names(stage: Stage, tmp_path: Path):
    configure(stage.settings, one=honest(tmp_path), two=liar(tmp_path, ADD))

    def script(request: dict[str, Any]) -> Says:
        if len(request["messages"]) > 1:
            return says("done")
        assert {"one__add", "two__add", "note"} <= {tool["name"] for tool in request["tools"]}
        return calls(call("one__add", a="20", b=22), call("two__add", a=1), call("one__add", a="much"))

    await stage.model(script)
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings, "one__add", "two__add"):
        assert await stage.play(run_id) is Outcome.PLAYED
    assert remote(stage.registry) == []
    one, two, wrong = results(stage)
    assert '"total": 42' in one
    assert "The MCP server two returned" in two
    assert wrong == "a: must be a whole number (got 'much')"


async def test_words_of_private_files_go_to_no_server_but_one_that_is_marked_as_private(
    stage: Stage, tmp_path: Path
):
    configure(stage.settings, one=honest(tmp_path), ours=honest(tmp_path, private=True))

    @tool
    async def peek(store: Store) -> str:
        """Read a private file."""
        await store.egress.mark_tainted()
        return "It is for Kranzberger."

    stage.registry.register(peek)
    words = {"variable": "KRANZBERGER"}
    replies = [
        calls(call("peek")),
        calls(call("one__reveal", **words), call("ours__reveal", **words), call("one__add", a=1)),
        says("done"),
    ]
    await stage.model(lambda request: replies[turn(request)])
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings, "one__add", "ours__add"):
        assert await stage.play(run_id) is Outcome.PLAYED
    _, refusal, revealed, total = results(stage)
    assert "Not sent to the MCP server one" in refusal
    assert "Kranzberger" in refusal
    assert "not set" in revealed
    assert '"total": 2' in total


async def test_a_run_keeps_its_tools_when_the_list_changes_and_the_next_run_sees_the_new_ones(
    stage: Stage, tmp_path: Path
):
    configure(stage.settings, one=liar(tmp_path, ADD, does="changing"))
    offered: list[list[str]] = []

    async def script(request: dict[str, Any]) -> Says:
        offered.append([tool["name"] for tool in request["tools"] if "__" in tool["name"]])
        if len(request["messages"]) > 1:
            return says("done")
        say(tmp_path, {**ADD, "name": "subtract"}, does="changing")
        await until(lambda: remote(stage.registry) == ["one__subtract"])
        return calls(call("one__add", a=1))

    await stage.model(script)
    first, second = await stage.submit("tides", "moons")
    async with serving(stage.registry, stage.settings, "one__add"):
        assert await stage.play(first) is Outcome.PLAYED
        assert "does not offer one__add any more" in results(stage)[0]
        assert await stage.play(second) is Outcome.PLAYED
    assert offered == [["one__add"], ["one__add"], ["one__subtract"], ["one__subtract"]]


async def test_a_server_that_this_worker_never_reached_is_not_reachable_rather_than_unknown(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chiron_workers.mcp_client.server.CALL_WAIT_S", 0.3)
    configure(stage.settings, far={"url": f"http://127.0.0.1:{free_port()}/mcp"})

    def script(request: dict[str, Any]) -> Says:
        return (
            says("done") if len(request["messages"]) > 1 else calls(call("far__add", a=1), call("fur__add"))
        )

    await stage.model(script)
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings):
        began = time.monotonic()
        assert await stage.play(run_id) is Outcome.PLAYED
        assert time.monotonic() - began < 20
    far, unknown = results(stage)
    assert "The MCP server far is not reachable now" in far
    assert "try later or go on without it" in far
    assert "There is no tool" in unknown


async def test_numbers_that_json_does_not_have_reach_no_journal(stage: Stage, tmp_path: Path):
    odd = {"type": "integer", "default": math.nan, "enum": [1, math.inf]}
    schema = {"type": "object", "properties": {"a": odd, "b": {"type": "number", "minimum": -math.inf}}}
    configure(stage.settings, one=liar(tmp_path, {**ADD, "inputSchema": schema}))

    def script(request: dict[str, Any]) -> Says:
        done = len(request["messages"]) > 1
        return says("done") if done else calls(call("one__add", a=7, b=math.nan))

    await stage.model(script)
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings, "one__add"):
        assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.requests) == 2
    [replied] = [one for one in stage.server.requests[-1]["messages"] if one["role"] == "assistant"]
    assert replied["content"][-1]["input"] == {"a": 7, "b": None}
    assert "The MCP server one returned" in results(stage)[0]


async def test_a_call_that_takes_too_long_is_stopped_at_the_servers_own_limit(stage: Stage, tmp_path: Path):
    configure(stage.settings, one=honest(tmp_path, timeout=1.5))

    def script(request: dict[str, Any]) -> Says:
        done = len(request["messages"]) > 1
        return says("done") if done else calls(call("one__sleep", seconds=60, mark="slow"))

    await stage.model(script)
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings, "one__sleep"):
        assert await stage.play(run_id) is Outcome.PLAYED
        await until((tmp_path / "slow.cancelled").exists)
    assert "one__sleep was stopped after 1.5 s" in results(stage)[0]


async def test_a_cancelled_run_cancels_its_call_at_the_server(stage: Stage, tmp_path: Path):
    configure(stage.settings, one=honest(tmp_path))
    await stage.model(lambda _: calls(call("one__sleep", seconds=60, mark="run")))
    [run_id] = await stage.submit("tides")
    async with serving(stage.registry, stage.settings, "one__sleep"):
        execution = stage.execution(await stage.claim(run_id))
        carried = asyncio.create_task(execution.execute())
        await until((tmp_path / "run.began").exists)
        execution.interrupt("cancel")
        await carried
        await until((tmp_path / "run.cancelled").exists)


@pytest.mark.acceptance
@pytest.mark.parametrize("ending", ["terminated", "killed"])
async def test_a_worker_offers_remote_tools_and_leaves_no_children(
    settings: Settings, tmp_path: Path, ending: str
):
    marks = tmp_path / "marks"
    marks.mkdir()
    stubborn = liar(marks, ADD, does="stubborn" if ending == "terminated" else "")
    secret = honest(marks, env={"API_KEY": "k-123456789"})
    broken = {"command": "x", "env": {"K": "${NOT_SET_ANYWHERE}"}}
    configure(settings, one=secret, two=stubborn, dead={"command": "no-such-program"}, broken=broken)

    def script(request: dict[str, Any]) -> Says:
        last = str(request["messages"][-1]["content"])
        # The server starts slowly on a busy machine.
        if len(request["messages"]) > 1 and "not reachable now" not in last:
            return says(last)
        return calls(call("one__reveal", variable="API_KEY"))

    async with open_pool(settings.database_url, size=1) as pool:
        run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 5)
        await submit(pool, NewBatch([run], "Physics"))
    async with scripted_model(script) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_LOG_LEVEL": "debug"}
        with running(settings, **env) as worker:
            done = "select answer from runs where state = 'completed'"
            await asyncio.to_thread(wait_until, lambda: rows(settings, done), what="the run")
            pids = [int(file.name) for file in marks.iterdir() if file.name.isdecimal()]
            assert len([pid for pid in pids if alive(pid)]) == 2
            if ending == "terminated":
                assert await asyncio.to_thread(worker.stop) == 0
            else:
                worker.send(signal.SIGKILL)
            await until(lambda: not any(map(alive, pids)))
    assert "***" in rows(settings, done)[0]["answer"]
    log = worker.log.read_text()
    assert "k-123456789" not in log
    assert "environment variable NOT_SET_ANYWHERE is not set" in log
    assert "no-such-program cannot be started: No such file or directory" in log
    assert "this server is honest" in log


@pytest.mark.acceptance
def test_the_commands_show_each_server_and_no_secret(settings: Settings, tmp_path: Path):
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with http_server(port, "--key", KEY, "--legacy", marks=tmp_path):
        configure(
            settings,
            web={"url": f"{url}?token=hidden-in-the-url", "headers": {"Authorization": "${WEB_KEY}"}},
            shut={"url": url, "headers": {"Authorization": "Bearer wrong-secret"}},
            dead={"command": "no-such-program", "args": ["--key=an-argument"]},
            off={"command": "x", "disabled": True},
        )
        listed = chiron(settings, "mcp-servers", "--json", WEB_KEY=KEY)
        shown = chiron(settings, "mcp-servers", WEB_KEY=KEY)
        doctor = chiron(settings, "doctor", WEB_KEY=KEY)
        tools = chiron(settings, "tools", WEB_KEY=KEY)
    web, shut, dead, off = json_lines(listed.stdout)
    assert (web["state"], web["protocol"], web["address"]) == ("ready", "2025-11-25", url)
    assert "web__add" in web["tools"]
    assert (shut["state"], shut["reason"]) == (
        "away",
        "it answered with HTTP 401 (its key is missing or wrong)",
    )
    assert (dead["transport"], dead["reason"]) == (
        "stdio",
        "no-such-program cannot be started: No such file or directory",
    )
    assert off == {"name": "off", "state": "disabled"}
    assert (listed.returncode, shown.returncode) == (0, 0)
    assert f"web  http {url}  ready  protocol 2025-11-25  6 tools\n  web__add\n" in shown.stdout
    assert "mcp servers       web answers, 6 tools are offered." in doctor.stdout
    assert (
        "mcp servers       dead does not answer: no-such-program cannot be started: No such file or directory"
        in doctor.stdout
    )
    assert "web__add" in tools.stdout
    assert "The MCP server shut does not answer" in tools.stderr
    said = "".join(done.stdout + done.stderr for done in (listed, shown, doctor, tools))
    assert not any(secret in said for secret in (KEY, "wrong-secret", "hidden-in-the-url", "an-argument"))


def test_a_wrong_entry_is_an_error_of_use_and_the_others_are_shown(settings: Settings, tmp_path: Path):
    configure(settings, right=liar(tmp_path, ADD), wrong={"url": "nowhere"})
    done = chiron(settings, "mcp-servers")
    assert done.returncode == 2
    assert "right__add" in done.stdout
    assert "The server 'wrong', url: String should match pattern" in done.stderr
    (settings.home / "mcp.json").write_text("{")
    done = chiron(settings, "mcp-servers")
    assert done.returncode == 2
    assert done.stderr.startswith(f"chiron: {settings.home / 'mcp.json'} is not JSON: ")
