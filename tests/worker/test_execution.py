"""What a worker does with a run that somebody wants stopped while it is being played."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, says, turn

from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.runs.leases import Run
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import Execution


class Gate:
    """A script that holds its second reply back until the test lets it go."""

    def __init__(self, held: Says | Fails | None = None) -> None:
        self.asked = asyncio.Event()
        self.opened = asyncio.Event()
        self.held = held or calls(call("note", words="second"))

    async def __call__(self, request: dict[str, Any]) -> Says | Fails:
        match turn(request):
            case 0:
                return calls(call("note", words="first"))
            case 1:
                self.asked.set()
                if isinstance(self.held, Says):
                    await self.opened.wait()
                return self.held
        return says("done")


async def playing(stage: Stage, gate: Gate) -> tuple[Run, Execution, "asyncio.Task[Outcome]"]:
    """A run whose second model call is in flight."""
    await stage.model(gate)
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    execution = stage.execution(run)
    task = asyncio.create_task(execution.execute())
    await asyncio.wait_for(gate.asked.wait(), 60)
    return run, execution, task


async def turns_asked(stage: Stage) -> list[int]:
    return [turn(request) for request in stage.server.requests]


async def replies(stage: Stage, run_id: UUID) -> int:
    return len(await stage.rows("select 1 from entries where run_id = %s and kind = 'reply'", run_id))


@pytest.mark.parametrize(
    "held", [None, Fails(stream="stall")], ids=["before its first word", "in mid-stream"]
)
async def test_a_cancel_cuts_the_model_call_and_ends_the_run(stage: Stage, held: Fails | None) -> None:
    run, execution, task = await playing(stage, Gate(held))
    await cancel(stage.pool, run.id)
    execution.interrupt("cancel")
    assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    row = await stage.row(run.id)
    assert (row["state"], row["turns"], row["stop_requested"], row["leased_until"]) == (
        "cancelled",
        1,
        None,
        None,
    )
    assert (row["unconfirmed_calls"], row["reserved_calls"]) == (1, 0), "the call that was cut may be billed"
    assert row["unconfirmed_usd"] > 0
    assert (await stage.kinds(run.id))[-2:] == ["run.cancelled", "batch.completed"]
    assert [event.kind for event in stage.published][-2:] == ["run.cancelled", "batch.completed"]


async def test_a_cancel_that_is_told_at_each_renewal_cuts_once(stage: Stage) -> None:
    run, execution, task = await playing(stage, Gate())
    await cancel(stage.pool, run.id)
    execution.interrupt("cancel")
    await asyncio.sleep(0)
    execution.interrupt("cancel")
    execution.interrupt("pause")
    assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    assert (await stage.row(run.id))["state"] == "cancelled"


async def test_a_cancel_keeps_the_reply_that_is_being_committed(stage: Stage) -> None:
    gate = Gate()
    run, execution, task = await playing(stage, gate)
    async with stage.pool.connection() as connection, connection.transaction():
        await connection.execute("select 1 from runs where id = %s for update", [run.id])
        gate.opened.set()
        waits = (
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        )
        while not await stage.rows(waits):
            await asyncio.sleep(0.01)
        await connection.execute("update runs set stop_requested = 'cancel' where id = %s", [run.id])
        for _ in range(3):
            execution.interrupt("cancel")
            await asyncio.sleep(0)
    assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    row = await stage.row(run.id)
    assert (row["state"], row["turns"], await replies(stage, run.id)) == ("cancelled", 2, 2)
    await stage.kinds(run.id)


async def test_a_pause_waits_for_the_reply_and_journals_it(stage: Stage) -> None:
    gate = Gate()
    run, execution, task = await playing(stage, gate)
    await pause(stage.pool, run.id)
    execution.interrupt("pause")
    gate.opened.set()
    assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    row = await stage.row(run.id)
    assert (row["state"], row["turns"], row["attempt"]) == ("paused", 2, 1)
    assert (await stage.kinds(run.id))[-1] == "run.paused"
    assert stage.runs_of_tools == ["first"], "the tools of the reply wait, too"
    await resume(stage.pool, run.id)
    assert await stage.play(run.id) is Outcome.PLAYED
    assert await turns_asked(stage) == [0, 1, 2]
    assert stage.runs_of_tools == ["first", "second"]


async def test_a_pause_that_was_taken_back_hands_the_run_on(stage: Stage) -> None:
    gate = Gate()
    run, execution, task = await playing(stage, gate)
    await pause(stage.pool, run.id)
    execution.interrupt("pause")
    await resume(stage.pool, run.id)
    gate.opened.set()
    await asyncio.wait_for(task, 60)
    row = await stage.row(run.id)
    assert (row["state"], row["attempt"]) == ("queued", 1)
    assert await stage.play(run.id) is Outcome.PLAYED
    assert await turns_asked(stage) == [0, 1, 2]


@pytest.mark.parametrize(("command", "state"), [(pause, "paused"), (cancel, "cancelled")])
async def test_a_run_that_a_draining_worker_hands_back_obeys_without_another_model_call(
    stage: Stage, command: Any, state: str
) -> None:
    run, execution, task = await playing(stage, Gate())
    await command(stage.pool, run.id)
    execution.cancel("the worker stops")
    await asyncio.wait_for(task, 60)
    assert (await stage.row(run.id))["state"] == state
    assert await turns_asked(stage) == [0, 1]


async def test_a_run_that_waits_for_its_model_for_an_hour_does_not_wait_to_be_cancelled(stage: Stage) -> None:
    await stage.model(lambda _: Fails(429, "rate_limit_error", headers={"retry-after": "3000"}))
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await cancel(stage.pool, run_id)
    await stage.execution(run).execute()
    assert (await stage.row(run_id))["state"] == "cancelled"


async def test_a_retry_goes_on_from_the_journal_and_asks_nothing_again(stage: Stage) -> None:
    run, execution, task = await playing(stage, Gate())
    await cancel(stage.pool, run.id)
    execution.interrupt("cancel")
    await asyncio.wait_for(task, 60)
    before = await stage.rows("select n, body::text from entries where run_id = %s order by n", run.id)
    await stage.model(lambda request: says("done"))
    await retry(stage.pool, run.id)
    assert await stage.play(run.id) is Outcome.PLAYED
    assert await turns_asked(stage) == [1]
    after = await stage.rows("select n, body::text from entries where run_id = %s order by n", run.id)
    assert after[: len(before)] == before
    assert stage.runs_of_tools == ["first"]
    assert (await stage.kinds(run.id)).count("batch.completed") == 2


async def test_a_completed_run_stays_so_although_a_cancel_came_in_the_meantime(stage: Stage) -> None:
    await stage.model(lambda _: says("done"))
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await cancel(stage.pool, run_id)  # the worker has not learnt of it yet
    assert await stage.execution(run).execute() is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["state"], row["stop_requested"], row["answer"]) == ("completed", None, "done")
