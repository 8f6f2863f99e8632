"""Cancels that Python 3.11 loses: each is repeated until its task has ended, and no commit of a paid reply is cut."""

import asyncio
import contextlib
from contextlib import AsyncExitStack

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers import cancellation
from chiron_workers.agent import conversation
from chiron_workers.agent.conversation import despite_cancellation
from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.connect import open_pool
from chiron_workers.states import Outcome
from chiron_workers.worker.duties import Duties

STEPS = 12  # of the event loop: more than a pool takes to hand out a connection


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "AGAIN_S", 0.02)


async def test_a_cancel_ends_a_task_at_whichever_step_a_pool_hands_it_a_connection(database_url: str) -> None:
    never, cancels = asyncio.Event(), []

    async def use_a_connection() -> None:
        async with pool.connection():
            pass
        await never.wait()

    async with open_pool(database_url, size=1) as pool:
        for steps in range(STEPS):
            connection = await pool.getconn()
            task = asyncio.create_task(use_a_connection())
            while not pool.get_stats().get("requests_waiting"):
                await asyncio.sleep(0)
            await pool.putconn(connection)
            for _ in range(steps):
                await asyncio.sleep(0)
            async with asyncio.timeout(60):
                await cancel_until_done([task])
            assert task.cancelled()
            cancels.append(task.cancelling())
    assert set(cancels) == {1}, "the pool lost a cancel, as psycopg's own does with Python 3.11"


@pytest.mark.parametrize("steps", range(STEPS))
async def test_an_execution_ends_at_whichever_step_it_is_cancelled(stage: Stage, steps: int) -> None:
    never = asyncio.Event()

    async def hold(_: object) -> Says:
        await never.wait()
        return says("done")

    await stage.model(hold)
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    async with AsyncExitStack() as others:
        for _ in range(stage.pool.max_size - 1):
            await others.enter_async_context(stage.pool.connection())
        connection = await stage.pool.getconn()
        task = asyncio.create_task(execution.execute())
        while not stage.pool.get_stats().get("requests_waiting"):
            await asyncio.sleep(0)
        await stage.pool.putconn(connection)
        for _ in range(steps):
            await asyncio.sleep(0)
        execution.cancel("the worker stops")
        await asyncio.wait([task], timeout=60)  # which cancels nothing itself
        assert task.done()
    assert task.result() is Outcome.LEFT
    never.set()
    row = await stage.row(run_id)
    assert (row["state"], row["reserved_calls"]) == ("queued", 0)


async def test_the_commit_of_a_reply_survives_any_number_of_cancels(stage: Stage) -> None:
    asked, locked = asyncio.Event(), asyncio.Event()

    async def wait_for_the_lock(request: dict[str, object]) -> Says:
        asked.set()
        await locked.wait()
        return says("done") if turn(request) else calls(call("echo", words="once"))

    await stage.model(wait_for_the_lock)
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    task = asyncio.create_task(execution.execute())
    await asyncio.wait_for(asked.wait(), 60)
    async with stage.pool.connection() as connection, connection.transaction():
        await connection.execute("select 1 from runs where id = %s for update", [run_id])
        locked.set()
        waits = (
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        )
        async with asyncio.timeout(60):
            while not await stage.rows(waits):
                await asyncio.sleep(0.01)
            execution.cancel("the worker stops")
            assert execution._task is not None
            while execution._task.cancelling() < 10:
                await asyncio.sleep(0.01)
    assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["reserved_calls"], row["unconfirmed_calls"]) == (
        "queued",
        1,
        0,
        0,
    )
    assert len(stage.server.requests) == 1


async def lose_a_cancel() -> None:
    never = asyncio.Event()
    with contextlib.suppress(asyncio.CancelledError):
        await never.wait()
    await never.wait()


async def test_duties_end_although_a_cancel_of_them_is_lost() -> None:
    duties, errors = Duties(), list[BaseException]()
    duties.start(lose_a_cancel(), on_failure=errors.append)
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await duties.stop()
    assert errors == []


async def test_a_commit_whose_time_is_over_ends_although_a_cancel_of_it_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "COMMIT_S", 0.01)
    task = asyncio.create_task(despite_cancellation(lose_a_cancel(), is_cancelled=True))
    await asyncio.wait([task], timeout=60)  # which cancels nothing itself
    assert task.cancelled()
