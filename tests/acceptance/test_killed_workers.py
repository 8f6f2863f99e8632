"""Workers that are killed again and again, from outside or by one of their runs: only that run pauses, and nothing fails."""

import asyncio
from pathlib import Path
from typing import Any

from support.poisonous_tool import supervise, write_tool
from support.queued_topics import assert_rows_agree, enqueue
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import Worker, chiron, end_leases, rows, running, wait_until

from chiron_workers.settings import Settings

MODEL = {
    "CHIRON_LEASE_S": "2",
    "CHIRON_RENEWAL_S": "0.5",
    "CHIRON_RESCUE_S": "0.2",
    "CHIRON_RING_AGAIN_S": "2",
    "ANTHROPIC_API_KEY": "test",
}
INNOCENT = [f"topic {n}" for n in range(7)]
STATES = "select topic, state, error ->> 'kind' as kind from runs order by topic"
ENDED = "select 1 from runs where state in ('queued', 'running') having count(*) = 0"
# Where none is a suspect all play, else one and those that are none; and each has a call in flight.
ALL_UNDER_WAY = """
select 1
  from runs
having count(*) filter (where state = 'running' and worker like %s) = greatest(count(*) filter (where shared_ends < 2), 1)
   and count(*) filter (where state = 'running') = %s
"""
REPLIES = "select count(*) as n from entries where kind = 'reply' group by run_id"
WRITTEN_OFF = "select sum(unconfirmed_calls)::int as calls, sum(reserved_calls)::int as reserved from runs"


def topic(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"]).rpartition("Research topic: ")[2]


def work(request: dict[str, Any], turns: int) -> Says:
    if turn(request) + 1 >= turns:
        return says("done")
    goal = f"{topic(request)} {turn(request)}"
    return calls(call("save_learning_goal", subject_id="physics", purpose_statement=goal))


async def test_seven_kills_within_one_step_of_eight_runs_fail_and_pause_none_of_them(
    settings: Settings,
) -> None:
    await enqueue(settings, *INNOCENT, "topic 7")
    may_answer = asyncio.Event()
    in_flight: list[str] = []
    calls_cut: list[int] = []

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) == 1 and not may_answer.is_set():
            in_flight.append(topic(request))
            await may_answer.wait()
        return work(request, 4)

    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        for kill in range(1, 8):
            with running(settings, "-c", "8", name=f"w{kill}", **env) as worker:
                in_flight.clear()
                pid = f"%:{worker.process.pid}"
                await until(worker, lambda pid=pid: rows(settings, ALL_UNDER_WAY, [pid, len(in_flight)]))
                worker.kill()
            calls_cut.append(len(in_flight))
            end_leases(settings)
        # The first time each had got further. With the third kill two were within its step: from then on one is played at a time.
        assert calls_cut == [8, 8, 8, 1, 1, 1, 1]
        may_answer.set()
        with running(settings, "-c", "8", name="w8", **env) as worker:
            await until(worker, lambda: rows(settings, ENDED))
            assert await asyncio.to_thread(worker.stop) == 0
    assert {row["state"] for row in rows(settings, STATES)} == {"completed"}
    assert rows(settings, "select 1 from events where kind in ('run.failed', 'run.paused')") == []
    assert rows(settings, WRITTEN_OFF) == [{"calls": 28, "reserved": 0}], "nothing but the calls in flight"
    assert rows(settings, REPLIES) == [{"n": 4}] * 8
    assert_rows_agree(settings)


async def until(worker: Worker, condition: Any) -> None:
    def is_over() -> object:
        assert worker.process.poll() is None, worker.log.read_text()[-2_000:]
        return condition()

    await asyncio.to_thread(wait_until, is_over, what="the next state")


async def test_a_run_that_kills_its_worker_pauses_and_the_seven_beside_it_complete(
    settings: Settings, tmp_path: Path
) -> None:
    await enqueue(settings, *INNOCENT[:3], "poison", *INNOCENT[3:])

    async def script(request: dict[str, Any]) -> Says:
        if topic(request) == "poison":
            return calls(call("swallow"))
        await asyncio.sleep(0.5)
        return work(request, 8)

    async with scripted_model(script) as model:
        env = {**MODEL, "CHIRON_TOOLS": write_tool(tmp_path), "ANTHROPIC_BASE_URL": model.url}
        kills = await supervise(settings, lambda: rows(settings, ENDED), "-c", "8", **env)
    states = {row["topic"]: (row["state"], row["kind"]) for row in rows(settings, STATES)}
    assert states.pop("poison") == ("paused", "ended_workers")
    assert states == dict.fromkeys(INNOCENT, ("completed", None))
    assert rows(settings, "select 1 from events where kind = 'run.failed'") == []
    assert kills <= 7
    assert_rows_agree(settings)


async def test_a_run_that_kills_its_worker_pauses_where_it_is_alone_and_again_after_a_resume(
    settings: Settings, tmp_path: Path
) -> None:
    await enqueue(settings, "poison")

    async with scripted_model(lambda _: calls(call("swallow"))) as model:
        env = {**MODEL, "CHIRON_TOOLS": write_tool(tmp_path), "ANTHROPIC_BASE_URL": model.url}
        kills = await supervise(settings, lambda: rows(settings, ENDED), **env)
        assert kills == 3, "the first time it got further, by the reply"
        [run] = rows(settings, "select id, batch_id, state, error from runs")
        assert (run["state"], run["error"]["kind"]) == ("paused", "ended_workers")
        shown = await asyncio.to_thread(chiron, settings, "show", str(run["id"]))
        assert b"ended while they played one step" in bytes(str(shown.stdout), "utf-8")
        await asyncio.to_thread(chiron, settings, "resume", str(run["batch_id"]))
        assert await supervise(settings, lambda: rows(settings, ENDED), **env) == 1
    assert [row["state"] for row in rows(settings, STATES)] == ["paused"]
    assert len(model.answered) == 1, "its reply was paid for once"
    assert rows(settings, WRITTEN_OFF) == [{"calls": 0, "reserved": 0}]
