"""Steering while real workers play."""

import asyncio
from datetime import timedelta
from typing import Any

from support.scripted_model import Fails, Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, end_leases, rows, running, wait_until

from chiron_api.acts.steering import cancel_batch, cancel_run
from chiron_api.services import open_services
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

KEY = {"ANTHROPIC_API_KEY": "test"}
SELDOM = {"CHIRON_LEASE_S": "600", "CHIRON_RENEWAL_S": "200"}  # so that what comes soon came by a hint


class Endless:
    """A model whose second reply begins to stream and never ends."""

    def __init__(self) -> None:
        self.streaming = asyncio.Event()

    def __call__(self, request: dict[str, Any]) -> Says | Fails:
        if turn(request) == 0:
            return calls(call("save_learning_goal", subject_id="physics", purpose_statement="x"))
        self.streaming.set()
        return Fails(stream="stall")


async def enqueue(settings: Settings, topic: str) -> None:
    async with open_pool(settings.database_url, size=1) as pool:
        await submit(pool, NewBatch([NewRun(topic, "research", "Physics", "claude-opus-5-5", 50)], "Physics"))


def run_of(settings: Settings) -> dict[str, Any]:
    return rows(settings, "select id, batch_id, state, turns, lease, worker from runs")[0]


async def until_state(settings: Settings, state: str) -> None:
    await asyncio.to_thread(wait_until, lambda: run_of(settings)["state"] == state, what=state)


async def test_a_cancel_of_playing_runs_takes_effect_long_before_the_next_renewal(settings: Settings) -> None:
    await enqueue(settings, "tides")
    script = Endless()
    async with scripted_model(script) as model:
        with running(settings, **KEY, **SELDOM, ANTHROPIC_BASE_URL=model.url) as worker:
            await asyncio.wait_for(script.streaming.wait(), 90)
            async with open_services(settings, pool_size=1) as services:
                await cancel_batch(services, run_of(settings)["batch_id"])
            await until_state(settings, "cancelled")
            assert await asyncio.to_thread(worker.stop) == 0
    kinds = rows(settings, "select kind from events order by seq desc limit 2")
    assert [row["kind"] for row in kinds] == ["batch.completed", "run.cancelled"]
    assert run_of(settings)["turns"] == 1


async def test_a_cancel_of_a_dead_workers_run_takes_effect_at_the_end_of_its_lease(
    settings: Settings,
) -> None:
    await enqueue(settings, "tides")
    script = Endless()
    async with scripted_model(script) as model:
        env = {**KEY, "CHIRON_RENEWAL_S": "0.5", "CHIRON_RESCUE_S": "0.5", "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env | {"CHIRON_LEASE_S": "60"}) as holder:
            await asyncio.wait_for(script.streaming.wait(), 90)
            # A worker takes lost runs once it has reached Postgres for a whole lease of its own.
            with running(settings, name="w2", **env | {"CHIRON_LEASE_S": "3"}) as second:
                await asyncio.to_thread(wait_until, lambda: second.has_said("ready"), what="w2 is up")
                holder.kill()
                async with open_services(settings, pool_size=1) as services:
                    await cancel_run(services, run_of(settings)["id"])
                assert run_of(settings)["state"] == "running", "the lease is not over"
                end_leases(settings)
                leased_until = rows(settings, "select leased_until from runs")[0]["leased_until"]
                await until_state(settings, "cancelled")
    late = rows(settings, "select finished_at from runs")[0]["finished_at"] - leased_until
    # The rescue looks every second; what is beyond that, a busy machine took.
    assert timedelta(0) <= late < timedelta(seconds=30)
    assert run_of(settings)["lease"] == 1, "nobody had to take it"
    assert len([request for request in model.requests if turn(request) == 1]) == 1


async def test_a_queued_run_is_cancelled_at_once_and_never_played(settings: Settings) -> None:
    await enqueue(settings, "tides")
    said = await asyncio.to_thread(chiron, settings, "cancel", str(run_of(settings)["id"]))
    assert said.stdout == "Cancelled: 1 run.\n"
    assert run_of(settings)["state"] == "cancelled"


async def test_paused_resumed_cancelled_and_retried_a_run_is_asked_each_turn_once(settings: Settings) -> None:
    await enqueue(settings, "tides")
    gates = {n: (asyncio.Event(), asyncio.Event()) for n in range(3)}

    async def script(request: dict[str, Any]) -> Says:
        asked, opened = gates[turn(request)]
        asked.set()
        await opened.wait()
        if turn(request) == 2:
            return says("done")
        return calls(call("save_learning_goal", subject_id="physics", purpose_statement="x"))

    async with scripted_model(script) as model:
        with running(settings, **KEY, ANTHROPIC_BASE_URL=model.url) as worker:
            run_id = str(run_of(settings)["id"])
            await asyncio.wait_for(gates[0][0].wait(), 90)
            await asyncio.to_thread(chiron, settings, "pause", run_id)
            assert run_of(settings)["state"] == "running", "a pause waits for the reply"
            gates[0][1].set()
            await until_state(settings, "paused")
            await asyncio.to_thread(chiron, settings, "resume", run_id)
            await asyncio.wait_for(gates[1][0].wait(), 90)
            gates[1][1].set()
            await asyncio.wait_for(gates[2][0].wait(), 90)
            await asyncio.to_thread(chiron, settings, "cancel", run_id)
            await until_state(settings, "cancelled")
            gates[2][1].set()
            await asyncio.to_thread(chiron, settings, "retry", run_id)
            await until_state(settings, "completed")
            assert await asyncio.to_thread(worker.stop) == 0
    # The last turn twice: its first call was cut.
    assert sorted(turn(request) for request in model.requests) == [0, 1, 2, 2]
    gaps = "select run_id from events group by run_id having max(seq) <> count(*) or min(seq) <> 1"
    assert rows(settings, gaps) == []
    assert len(rows(settings, "select 1 from events where kind = 'batch.completed'")) == 2
