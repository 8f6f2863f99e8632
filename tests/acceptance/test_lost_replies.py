"""A worker that is stopped while Postgres refuses its replies says how many it lost, and ends with a failure."""

import asyncio
import json
from typing import Any

from support.refusing_postgres import refuse
from support.scripted_model import Says, scripted_model, searched
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

TOPICS = ("tides", "waves")


async def until(condition: Any, what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what=what)


async def test_a_stopped_worker_counts_the_replies_that_it_could_not_commit(settings: Settings) -> None:
    async def answer(_: dict[str, Any]) -> Says:
        return searched("done")

    async with open_pool(settings.database_url, size=1) as pool:
        runs = [NewRun(topic, "research", "Physics", "claude-opus-5-5", 50) for topic in TOPICS]
        await submit(pool, NewBatch(runs, "Physics"))
    heal = refuse(settings.database_url, table="entries", code="53100")
    async with scripted_model(answer) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_DRAIN_S": "0.1"}
        with running(settings, **env) as worker:
            await until(
                lambda: worker.log.read_text().count("reply.waits") == len(TOPICS), "both replies wait"
            )
            assert await asyncio.to_thread(worker.stop) == 1
            said = worker.log.read_text()
        [line] = [line for line in said.splitlines() if "worker.lost_replies" in line]
        assert json.loads(line)["replies"] == len(TOPICS)
        query = "select state, unconfirmed_calls, reserved_calls from runs"
        assert [tuple(row.values()) for row in rows(settings, query)] == [("queued", 1, 0)] * len(TOPICS)
        heal()
        with running(settings, name="w2", **env) as worker:
            completed = "select 1 from runs where state = 'completed' having count(*) = 2"
            await until(lambda: rows(settings, completed), "both runs completed")
            assert await asyncio.to_thread(worker.stop) == 0
    assert len(model.requests) == 2 * len(TOPICS)
