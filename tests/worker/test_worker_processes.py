"""A worker as everybody starts one, `celery -A chiron_workers worker`, on the real services."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from support.queued_topics import assert_rows_agree, enqueue
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import end_leases, rows, running, wait_until

from chiron_workers.settings import Settings

MODEL = {
    "CHIRON_LEASE_S": "10",  # long, so that no run is taken from a living worker where the machine stands still
    "CHIRON_RENEWAL_S": "0.5",
    "CHIRON_RESCUE_S": "0.5",
    "ANTHROPIC_API_KEY": "test",
}
SOON = {"CHIRON_LEASE_S": "3"}  # for a worker that rescues, which reaches Postgres for a whole lease before


def topic(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"])


async def turns_of(request: dict[str, Any], *, turns: int = 4) -> Says:
    """Plays `turns` replies, each with a tool call that writes."""
    await asyncio.sleep(0.02)
    if turn(request) + 1 >= turns:
        return says("done")
    goal = f"{topic(request)} {turn(request)}"
    return calls(call("save_learning_goal", subject_id="physics", purpose_statement=goal))


async def until(condition: Callable[[], object], what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what=what)


async def finished(settings: Settings, count: int) -> None:
    """Wait for the end of all runs and of their batch, which is said after the commit of its last run's end."""
    query = (
        "select 1 from runs r join batches b on b.id = r.batch_id"
        " where r.state = 'completed' and b.finished_at is not null"
    )
    await until(lambda: len(rows(settings, query)) == count, "all runs completed, and their batch")


async def test_a_worker_started_by_hand_plays_what_is_queued_without_any_message(settings: Settings) -> None:
    await enqueue(settings, "tides", "waves")
    async with scripted_model(turns_of) as model:
        with running(settings, **MODEL, ANTHROPIC_BASE_URL=model.url) as worker:
            await finished(settings, 2)
            assert await asyncio.to_thread(worker.stop) == 0
    assert Counter((topic(request), turn(request)) for request in model.answered) == {
        (f"Research topic: {name}", n): 1 for name in ("tides", "waves") for n in range(4)
    }


async def test_another_worker_goes_on_after_kill_9_and_repeats_nothing(settings: Settings) -> None:
    names = [f"topic {n}" for n in range(6)]
    await enqueue(settings, *names)

    killed = asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) >= 4:
            await killed.wait()  # so that no run is over before
        return await turns_of(request, turns=8)

    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first:
            some = "select 1 from entries where kind = 'reply' having count(*) > 12"
            await until(lambda: rows(settings, some), "some turns")
            first.kill()
        killed.set()
        end_leases(settings)
        with running(settings, name="w2", **env | SOON):
            await finished(settings, 6)
    answered = Counter((topic(request), turn(request)) for request in model.answered)
    stored = rows(settings, "select count(*) as n from entries where kind = 'reply'")[0]["n"]
    assert len(answered) == stored == 6 * 8
    assert sum(answered.values()) - len(answered) <= 6, (
        "at most the one call in flight of each run is repeated"
    )
    doubled = rows(settings, "select run_id, call_id from tool_results group by 1, 2 having count(*) > 1")
    assert doubled == []
    gaps = "select run_id from events group by run_id having max(seq) <> count(*) or min(seq) <> 1"
    assert rows(settings, gaps) == []
    assert len(rows(settings, "select 1 from events where kind = 'batch.completed'")) == 1
    assert_rows_agree(settings)


async def test_two_workers_play_no_run_twice(settings: Settings) -> None:
    names = [f"topic {n}" for n in range(12)]
    await enqueue(settings, *names)
    all_play = asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        await all_play.wait()  # or the first worker to start could be through before the second one is up
        return await turns_of(request)

    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, "-c", "6", name="w1", **env), running(settings, "-c", "6", name="w2", **env):
            playing = "select 1 from runs where state = 'running' having count(*) = 12"
            await until(lambda: rows(settings, playing), "both workers are full")
            all_play.set()
            await finished(settings, 12)
    answered = Counter((topic(request), turn(request)) for request in model.answered)
    assert set(answered.values()) == {1}
    assert len(answered) == 12 * 4
    assert len(rows(settings, "select distinct worker from runs")) == 2
    assert rows(settings, "select 1 from runs where lease <> 1") == []


async def test_sigterm_lets_calls_finish_and_hands_the_runs_back(settings: Settings) -> None:
    await enqueue(settings, "tides")
    asked, drains = asyncio.Event(), asyncio.Event()

    async def slow(request: dict[str, Any]) -> Says:
        if turn(request) == 1:
            asked.set()
            await drains.wait()
        return await turns_of(request)

    async with scripted_model(slow) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first:
            await asyncio.wait_for(asked.wait(), 90)
            first.send(signal.SIGTERM)
            await until(lambda: first.has_said("worker.draining"), "the worker drains")
            drains.set()
            assert await asyncio.to_thread(first.process.wait, 90) == 0
        row = rows(settings, "select state, turns, attempt, leased_until from runs")[0]
        assert row == {"state": "queued", "turns": 2, "attempt": 1, "leased_until": None}
        with running(settings, name="w2", **env):
            await finished(settings, 1)
    assert Counter(turn(request) for request in model.answered) == {0: 1, 1: 1, 2: 1, 3: 1}


@pytest.mark.acceptance
async def test_a_stopped_worker_that_wakes_after_its_lease_writes_nothing(settings: Settings) -> None:
    await enqueue(settings, "tides")
    asked, is_awake = asyncio.Event(), asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) == 2 and not asked.is_set():
            asked.set()
            await is_awake.wait()
        return await turns_of(request)

    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as zombie:
            await asyncio.wait_for(asked.wait(), 90)
            zombie.send(signal.SIGSTOP)
            process = psutil.Process(zombie.process.pid)
            await until(lambda: process.status() == psutil.STATUS_STOPPED, "the worker stands still")
            end_leases(settings)
            with running(settings, name="w2", **env | SOON) as second:
                await finished(settings, 1)
                before = rows(settings, "select seq, lease, turns, worker from runs")
                zombie.send(signal.SIGCONT)
                is_awake.set()
                assert await asyncio.to_thread(zombie.stop) == 0
                assert rows(settings, "select seq, lease, turns, worker from runs") == before
                await asyncio.to_thread(second.stop)
    assert rows(settings, "select n from entries where lease = 1 and n > 4") == []


async def test_a_worker_without_a_database_says_so_and_ends(settings: Settings) -> None:
    wrong = settings.model_copy(update={"database_url": "postgresql://nobody@127.0.0.1:1/none"})
    with running(wrong) as worker:
        code = await asyncio.to_thread(worker.process.wait, 90)
    assert code == 1
    said = worker.log.read_text()
    assert "Postgres cannot be reached" in said
    assert "Traceback" not in said


async def test_a_worker_with_a_wrong_setting_names_it_and_ends(settings: Settings) -> None:
    with running(settings, CHIRON_LEASE_S="soon") as worker:
        code = await asyncio.to_thread(worker.process.wait, 90)
    assert code == 1
    said = worker.log.read_text()
    assert said.startswith("chiron: CHIRON_LEASE_S:")
    assert "Traceback" not in said
