"""What Postgres refuses for a reason that passes: paid replies wait for it, chores go on, and who gives up says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs
from support.refusing_postgres import admin, refuse, set_for_database
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.agent import conversation
from chiron_workers.db import outages
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import Execution


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "PAUSE_S", 0.05)


async def two_turns(request: dict[str, Any]) -> Says:
    return says("done") if turn(request) else calls(call("echo", words="once"))


async def play_until(stage: Stage, run_id: UUID, event: str) -> "asyncio.Task[Outcome]":
    """A run that is being played and has logged this event."""
    with capture_logs() as logs:
        task = asyncio.create_task(stage.play(run_id))
        async with asyncio.timeout(60):
            while not any(line["event"] == event for line in logs):
                assert not task.done(), await task
                await asyncio.sleep(0.01)
    return task


async def assert_asked_each_turn_once(stage: Stage, run_id: UUID) -> None:
    assert [turn(request) for request in stage.server.requests] == [0, 1]
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["lease"], row["attempt"]) == ("completed", 2, 1, 1)
    assert (row["reserved_calls"], row["reserved_usd"], row["unconfirmed_calls"]) == (0, 0, 0)
    await stage.kinds(run_id)


@pytest.mark.parametrize(
    ("table", "code"),
    [
        *(("entries", code) for code in ("53100", "53200", "57014", "58030", "XX000", "42501")),
        ("tool_results", "53100"),
    ],
)
async def test_what_was_paid_for_waits_until_postgres_takes_it(stage: Stage, table: str, code: str) -> None:
    await stage.model(two_turns)
    (run_id,) = await stage.submit("tides")
    heal = refuse(stage.settings.database_url, table=table, code=code)
    what = {"entries": "reply.waits", "tool_results": "result.waits"}[table]
    task = await play_until(stage, run_id, what)
    heal()
    assert await asyncio.wait_for(task, 60) is Outcome.PLAYED
    await assert_asked_each_turn_once(stage, run_id)
    assert stage.runs_of_tools == ["once"]


async def test_a_reply_waits_for_a_server_that_is_read_only_since_a_failover(stage: Stage) -> None:
    url, is_read_only = stage.settings.database_url, False

    async def fail_over_before_the_first_reply(request: dict[str, Any]) -> Says:
        nonlocal is_read_only
        if not is_read_only:
            is_read_only = True
            await asyncio.to_thread(set_for_database, url, "default_transaction_read_only", "on")
        return await two_turns(request)

    await stage.model(fail_over_before_the_first_reply)
    (run_id,) = await stage.submit("tides")
    task = await play_until(stage, run_id, "reply.waits")
    await asyncio.to_thread(set_for_database, url, "default_transaction_read_only", None)
    assert await asyncio.wait_for(task, 60) is Outcome.PLAYED
    await assert_asked_each_turn_once(stage, run_id)


async def test_a_reply_outlasts_the_statement_timeout_that_a_lock_makes_it_miss(stage: Stage) -> None:
    url = stage.settings.database_url
    await asyncio.to_thread(set_for_database, url, "statement_timeout", "'300ms'")
    await stage.pool.check()
    asked, locked = asyncio.Event(), asyncio.Event()

    async def wait_for_the_lock(request: dict[str, Any]) -> Says:
        asked.set()
        await locked.wait()
        return await two_turns(request)

    await stage.model(wait_for_the_lock)
    (run_id,) = await stage.submit("tides")
    playing = asyncio.create_task(play_until(stage, run_id, "reply.waits"))
    await asyncio.wait_for(asked.wait(), 60)
    with admin(url) as connection, connection.transaction():
        connection.execute("select 1 from runs where id = %s for update", [run_id])
        locked.set()
        task = await playing
    assert await asyncio.wait_for(task, 60) is Outcome.PLAYED
    await assert_asked_each_turn_once(stage, run_id)


async def test_a_reply_that_is_wrong_itself_waits_for_nothing(stage: Stage) -> None:
    await stage.model(two_turns)
    (run_id,) = await stage.submit("tides")
    refuse(stage.settings.database_url, table="entries", code="22001")
    with capture_logs() as logs:
        assert await asyncio.wait_for(stage.play(run_id), 60) is Outcome.LEFT
    assert "reply.lost" in [line["event"] for line in logs]
    assert (await stage.row(run_id))["unconfirmed_calls"] == 1, "the call may be billed"


async def test_a_reply_that_waits_when_its_time_is_over_is_counted_as_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "COMMIT_S", 0.2)
    await stage.model(two_turns)
    (run_id,) = await stage.submit("tides")
    refuse(stage.settings.database_url, table="entries", code="53100")
    async with waiting_with_a_reply(stage, run_id) as (execution, task):
        execution.cancel("the worker stops")
        assert await asyncio.wait_for(task, 60) is Outcome.LEFT
    assert execution._journal.lost_replies == 1
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["unconfirmed_calls"], row["reserved_calls"]) == (
        "queued",
        0,
        1,
        0,
    )


@asynccontextmanager
async def waiting_with_a_reply(
    stage: Stage, run_id: UUID
) -> AsyncIterator[tuple[Execution, "asyncio.Task[Outcome]"]]:
    execution = stage.execution(await stage.claim(run_id))
    with capture_logs() as logs:
        task = asyncio.create_task(execution.execute())
        async with asyncio.timeout(60):
            while not any(line["event"] == "reply.waits" for line in logs):
                await asyncio.sleep(0.01)
        yield execution, task
