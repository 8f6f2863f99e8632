"""A Redis that takes connections and refuses commands ends no worker: runs go on, and others start once it takes them again."""

import asyncio
import json
import subprocess
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from support import forked_python
from support.private_valkey import own_valkey
from support.refusing_redis import REFUSALS, read_only
from support.scripted_model import Says, scripted_model, searched
from support.worker_processes import chiron, environment, rows, running, wait_until

from chiron_api.local_stack.checks import broker
from chiron_workers.pubsub.redis import redis_client, write_refusal
from chiron_workers.settings import Settings

FAST = {
    "CHIRON_RESCUE_S": "0.2",
    "ANTHROPIC_API_KEY": "test",
    "CHIRON_MODEL": "claude-opus-5-5",
    "CHIRON_NO_PROGRESS": "0",
}


@pytest.mark.acceptance
@pytest.mark.parametrize(
    "refusal",
    REFUSALS,
    ids=lambda refusal: refusal.__name__,
)
async def test_a_worker_outlasts_a_redis_that_refuses(
    settings: Settings, tmp_path: Path, refusal: "type[AbstractContextManager[None]]"
) -> None:
    gate = asyncio.Event()

    async def answer(_: dict[str, Any]) -> Says:
        await gate.wait()
        return searched("done")

    def submit(topic: str) -> None:
        done = chiron(settings, "submit", topic, "--subject", "Physics", "--json", **FAST)
        assert done.returncode == 0, done.stderr

    async def until(condition: Any, what: str) -> None:
        await asyncio.to_thread(wait_until, condition, what=what)

    def completed(count: int) -> bool:
        query = "select 1 from runs where state = 'completed' having count(*) = %s"
        return bool(rows(settings, query, [count]))

    async with scripted_model(answer) as model:
        with ExitStack() as stack:
            server = stack.enter_context(own_valkey(tmp_path / "valkey"))
            settings = settings.model_copy(update={"redis_url": server.url})
            await asyncio.to_thread(submit, "tides")
            worker = stack.enter_context(running(settings, **FAST, ANTHROPIC_BASE_URL=model.url))
            await until(lambda: rows(settings, "select 1 from runs where state = 'running'"), "a run")
            with refusal(server):  # type: ignore[call-arg]
                await until(lambda: worker.has_said("redis.refuses"), "the refusal in the log")
                await asyncio.to_thread(submit, "waves")
                gate.set()
                await until(lambda: completed(1), "the end of the run under way")
                await until(lambda: worker.has_said("ring.failed"), "a dispatch that fails")
                assert worker.process.poll() is None
            await until(lambda: completed(2), "the run that waited")
            await until(lambda: worker.has_said("redis.accepts_again"), "the end of the refusal in the log")
            assert await asyncio.to_thread(worker.stop) == 0


async def test_doctor_and_watch_name_a_redis_that_takes_no_writes(settings: Settings, tmp_path: Path) -> None:
    with own_valkey(tmp_path / "valkey") as server:
        settings = settings.model_copy(update={"redis_url": server.url})
        done = chiron(settings, "submit", "tides", "--subject", "Physics", "--json", **FAST)
        assert done.returncode == 0, done.stderr
        with read_only(server):
            async with redis_client(server.url) as redis:
                assert (await write_refusal(redis)).startswith("Redis refuses writes (")
            check = broker.checks(settings)[0]
            assert "refuses" in check.found and "READONLY" in check.advice
            command = [sys.executable, "-m", "chiron_api", "watch", json.loads(done.stdout)["batch_id"]]
            env = environment(settings, **FAST)
            with forked_python.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as watching:
                assert watching.stderr is not None
                line = await asyncio.to_thread(watching.stderr.readline)
                while "Redis" not in line and line:
                    line = await asyncio.to_thread(watching.stderr.readline)
                watching.terminate()
        assert line.startswith("Redis refuses writes (")
        assert "Runs under way go on" in line
        assert broker.checks(settings)[0].ok
