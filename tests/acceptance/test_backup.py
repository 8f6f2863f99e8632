"""A backup taken while a worker plays, put back elsewhere, goes on there; and with the own services stopped."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, end_leases, rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

ENV = {
    "CHIRON_RESCUE_S": "0.5",
    "ANTHROPIC_API_KEY": "test",
}
TURNS = 10
RUNS = 6


def replies(settings: Settings) -> int:
    return rows(settings, "select count(*) as n from entries where kind = 'reply'")[0]["n"]


async def test_what_was_played_while_it_was_backed_up_is_played_to_the_end_where_it_is_restored(
    settings: Settings, empty_url: str
) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(f"topic {n}", "research", "Physics", "claude-opus-5-5", 50) for n in range(RUNS)]
        await submit(pool, NewBatch(runs, "Physics"))
    goes_on = asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) >= TURNS // 2:
            await goes_on.wait()  # so that nothing is over before it is backed up
        if turn(request) + 1 >= TURNS:
            return says("done")
        goal = f"turn {turn(request)}"
        return calls(call("save_learning_goal", subject_id="physics", purpose_statement=goal))

    elsewhere = settings.model_copy(update={"database_url": empty_url})
    async with scripted_model(script) as model:
        env = {**ENV, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env):
            begun = "select 1 from entries where kind = 'reply' having count(distinct run_id) = %s"
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, begun, [RUNS]), what="turns of each run"
            )
            done = await asyncio.to_thread(chiron, settings, "backup", "live.backup")
            assert (done.returncode, done.stderr) == (0, "")
        goes_on.set()
        done = await asyncio.to_thread(chiron, elsewhere, "restore", "live.backup")
        assert (done.returncode, done.stderr) == (0, "")
        held = {
            row["state"]: row["n"]
            for row in rows(elsewhere, "select state, count(*) as n from runs group by 1")
        }
        assert held.get("running"), held
        kept = replies(elsewhere)
        assert RUNS <= kept < RUNS * TURNS
        asked_before = len(model.answered)
        end_leases(elsewhere)
        with running(elsewhere, name="w2", **env):
            over = "select 1 from batches where open_runs = 0"
            await asyncio.to_thread(wait_until, lambda: rows(elsewhere, over), what="the batch completed")
    assert rows(elsewhere, "select 1 from runs where state <> 'completed'") == []
    # What the backup holds is not asked again.
    assert len(model.answered) - asked_before == RUNS * TURNS - kept
    events = rows(elsewhere, "select run_id, count(*) as n, max(seq) as last from events group by run_id")
    assert [row for row in events if row["n"] != row["last"]] == []
    kinds = Counter(row["kind"] for row in rows(elsewhere, "select kind from events"))
    assert (kinds["run.completed"], kinds["batch.completed"]) == (RUNS, 1)


@pytest.fixture
def own_home(settings: Settings) -> Iterator[Settings]:
    """Settings that name no services: the own ones are used, in a home of their own."""
    with tempfile.TemporaryDirectory(prefix="ch", ignore_cleanup_errors=True) as folder:
        own = {"home": Path(folder) / "home", "database_url": "", "redis_url": ""}
        found = settings.model_copy(update=own)
        found.home.mkdir()
        yield found


def test_the_own_database_is_started_for_a_backup_and_stopped_again(
    own_home: Settings, settings: Settings
) -> None:
    chiron(settings, "submit", "A", "--subject", "S")
    file = str(settings.home / "all.backup")
    assert chiron(settings, "backup", file).returncode == 0
    done = chiron(own_home, "restore", file, timeout_s=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert chiron(own_home, "status").stdout.startswith("Nothing runs in ")
    again = str(settings.home / "again.backup")
    done = chiron(own_home, "backup", again, timeout_s=120)
    assert (done.returncode, done.stderr) == (0, "")
    refused = chiron(own_home, "restore", again, timeout_s=120)
    assert (refused.returncode, "This database holds data" in refused.stderr) == (1, True)
    assert chiron(own_home, "restore", again, "--force", timeout_s=120).returncode == 0
    assert chiron(own_home, "status").stdout.startswith("Nothing runs in ")
