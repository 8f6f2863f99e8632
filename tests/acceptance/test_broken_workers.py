"""A worker that cannot do its duties ends with a status that says so, and one that only waits for Postgres does not."""

import asyncio
from pathlib import Path
from typing import Any

from support.refusing_postgres import admin, set_for_database
from support.scripted_model import Says, scripted_model, searched
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

ENV = {
    "ANTHROPIC_API_KEY": "test",
    "CHIRON_RESCUE_S": "0.2",
    "CHIRON_RENEWAL_S": "0.2",
    "CHIRON_DRAIN_S": "0.1",
}
READ_ONLY = "default_transaction_read_only"
BREAK_RENEWAL = """
from chiron_workers.worker import lease_renewal

def renew(*_, **__):
    raise MemoryError("injected by the test")

lease_renewal.renew = renew
"""


async def enqueue(settings: Settings) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        await submit(
            pool, NewBatch([NewRun("tides", "research", "Physics", "claude-opus-5-5", 50)], "Physics")
        )


async def until(condition: Any, what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what=what)


async def test_a_worker_that_cannot_dispatch_any_more_ends_with_a_failure(settings: Settings) -> None:
    with running(settings, **ENV) as worker:
        await until(lambda: worker.has_said("ready."), "the worker is ready")
        with admin(settings.database_url) as connection:
            connection.execute("alter table holds rename to missing")
        assert await asyncio.to_thread(worker.process.wait, 90) == 1
        assert worker.has_said("worker.broken")


async def test_a_worker_whose_renewal_dies_ends_with_a_failure_and_hands_its_runs_back(
    settings: Settings, tmp_path: Path
) -> None:
    (tools := tmp_path / "tools").mkdir()
    (tools / "injection.py").write_text(BREAK_RENEWAL)
    never = asyncio.Event()

    async def wait(_: dict[str, Any]) -> Says:
        await never.wait()
        return searched("done")

    async with scripted_model(wait) as model:
        await enqueue(settings)
        with running(settings, **ENV, CHIRON_TOOLS=str(tools), ANTHROPIC_BASE_URL=model.url) as worker:
            assert await asyncio.to_thread(worker.process.wait, 90) == 1
            assert worker.has_said("injected by the test")
        never.set()
    assert [row["state"] for row in rows(settings, "select state from runs")] == ["queued"]


async def test_a_worker_outlasts_a_server_that_is_read_only_for_a_while(settings: Settings) -> None:
    async def answer(_: dict[str, Any]) -> Says:
        return searched("done")

    async with scripted_model(answer) as model:
        with running(settings, **ENV, ANTHROPIC_BASE_URL=model.url) as worker:
            await until(lambda: worker.has_said("ready."), "the worker is ready")
            await asyncio.to_thread(set_for_database, settings.database_url, READ_ONLY, "on")
            await until(lambda: worker.has_said("rescue.failed"), "a rescue that fails")
            await until(lambda: worker.has_said("ring.failed"), "a dispatch that fails")
            await asyncio.to_thread(set_for_database, settings.database_url, READ_ONLY, None)
            await enqueue(settings)
            query = "select 1 from runs where state = 'completed'"
            await until(lambda: rows(settings, query), "the run completed")
            assert await asyncio.to_thread(worker.stop) == 0
    assert len(model.answered) == 1
