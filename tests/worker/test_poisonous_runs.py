"""A run that kills its worker, a real process; `tests/acceptance/test_killed_workers.py` has it among others."""

import asyncio
from datetime import timedelta
from pathlib import Path

from support.poisonous_tool import KILLED, write_tool
from support.scripted_model import call, calls, scripted_model
from support.worker_processes import end_leases, rows, running

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import Settings

STATES = "select state, error ->> 'kind' as kind, attempt, turns from runs"


async def test_a_run_that_kills_its_workers_pauses_after_two_that_it_got_no_further_on(
    settings: Settings, tmp_path: Path
) -> None:
    async with (
        open_pool(settings.database_url, size=2) as pool,
        scripted_model(lambda _: calls(call("swallow"))) as model,
    ):
        await submit(
            pool, NewBatch([NewRun("tides", "research", "Physics", "claude-opus-5-5", 50)], "Physics")
        )
        env = {
            "ANTHROPIC_API_KEY": "test",
            "CHIRON_TOOLS": write_tool(tmp_path),
            "ANTHROPIC_BASE_URL": model.url,
        }
        assert await killed(settings, pool, **env) == ("queued", None, 1, 1), "its reply got it further"
        # As if it had killed another worker since.
        rows(settings, "update runs set steps_at_claim = steps, sole_ends = 1, attempt = 2 returning 1")
        assert await killed(settings, pool, **env) == ("paused", "ended_workers", 2, 1)
    assert len(model.answered) == 1, "its reply is paid for once"


async def killed(settings: Settings, pool: Pool, **env: str) -> tuple[object, ...]:
    """What has become of the run once it has killed a worker, and was rescued by this process."""
    with running(settings, **env) as worker:
        assert await asyncio.to_thread(worker.process.wait, 60) == KILLED
    assert end_leases(settings) == 1
    journal = Journal(pool, lambda _: None, lease_for=timedelta(seconds=10))
    assert await rescue(journal, may_rescue=lambda _: True) == 1
    return tuple(rows(settings, STATES)[0].values())
