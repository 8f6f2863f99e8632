"""Tools of one's own that hold up what runs share: the connections of tools, and the event loop."""

import asyncio
from pathlib import Path
from typing import Any

from support.otlp_collector import collector
from support.scripted_model import Says, call, calls, says, scripted_model, searched, turn
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

POOL_SIZE = 4
TURNS_MAX = 20
ENV = {"ANTHROPIC_API_KEY": "test", "CHIRON_RESCUE_S": "0.5", "CHIRON_POOL_SIZE": str(POOL_SIZE)}
TOOLS = """
import asyncio
import time
from pathlib import Path

from chiron_workers.store import Store
from chiron_workers.toolkit import tool

@tool
async def hold(store: Store) -> str:
    '''Hold a connection until the test lets go of it; how long a transaction may be idle in it.'''
    async with store.session.pool.connection() as connection:
        row = await (await connection.execute("show idle_in_transaction_session_timeout")).fetchone()
        while not Path("gate").exists():
            await asyncio.sleep(0.01)
    return row["idle_in_transaction_session_timeout"]

@tool
async def doze(store: Store) -> str:
    '''Hold up the event loop.'''
    time.sleep(1)
    return "awake"
"""


async def enqueue(settings: Settings, *topics: str) -> None:
    async with open_pool(settings.database_url, size=1) as pool:
        runs = [NewRun(topic, "research", "Physics", "claude-opus-5-5", TURNS_MAX) for topic in topics]
        await submit(pool, NewBatch(runs, "Physics"))


async def until(settings: Settings, query: str, what: str, *, count: int = 1) -> None:
    await asyncio.to_thread(wait_until, lambda: len(rows(settings, query)) >= count, what=what)


def write_tools(folder: Path) -> dict[str, str]:
    (folder / "tools").mkdir()
    (folder / "tools" / "holding.py").write_text(TOOLS)
    return ENV | {"CHIRON_TOOLS": str(folder / "tools")}


async def test_tools_that_hold_every_connection_they_can_get_keep_no_other_run_waiting(
    settings: Settings, tmp_path: Path
) -> None:
    async def script(request: dict[str, Any]) -> Says:
        is_holder = "hold" in str(request["messages"][0]["content"])
        return calls(call("hold")) if is_holder and not turn(request) else searched("done")

    env = write_tools(tmp_path)
    await enqueue(settings, *(f"hold {n}" for n in range(POOL_SIZE)))
    async with scripted_model(script) as model:
        with running(settings, **env, ANTHROPIC_BASE_URL=model.url) as worker:
            replied = "select 1 from entries where kind = 'reply'"
            await until(settings, replied, "all tools called", count=POOL_SIZE)
            await enqueue(settings, "tides")
            completed = "select 1 from runs where state = 'completed'"
            await until(settings, completed, "the run without a tool")
            (settings.home / "gate").touch()
            await until(settings, completed, "all runs completed", count=POOL_SIZE + 1)
            assert await asyncio.to_thread(worker.stop) == 0
    results = rows(settings, "select body from tool_results")
    assert len(results) == POOL_SIZE
    assert all("2s" in str(row["body"]) for row in results)


async def test_a_worker_names_the_tool_that_holds_up_its_event_loop(
    settings: Settings, tmp_path: Path
) -> None:
    is_named = False

    async def script(_: dict[str, Any]) -> Says:
        nonlocal is_named
        lines = worker.log.read_text().splitlines()
        is_named = any("loop.stalled" in line and "in doze" in line for line in lines)
        # Where the machine gave the worker no time either, there was no stall.
        return says("done") if is_named else calls(call("doze"))

    with collector() as receiver:
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_METRICS_EXPORTER": "otlp"}
        env = write_tools(tmp_path) | otel
        async with scripted_model(script) as model:
            with running(settings, **env, ANTHROPIC_BASE_URL=model.url) as worker:
                await enqueue(settings, "tides")
                ended = "select 1 from runs where state in ('completed', 'failed')"
                await until(settings, ended, "the end of the run")
                assert await asyncio.to_thread(worker.stop) == 0
        assert is_named
        assert receiver.counts["chiron.loop.stall.duration"] >= 1
