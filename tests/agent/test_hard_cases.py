"""What servers, crashes and people do that the documents do not mention."""

import asyncio
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from support import scripted_model
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import UsageError
from chiron_workers.runs.leases import say
from chiron_workers.sources.sources import Page
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


def use(call_id: str, arguments: Any) -> scripted_model.Block:
    return {"type": "tool_use", "id": call_id, "name": "echo", "input": arguments}


async def test_what_postgres_refuses_is_data_for_the_model_and_no_outage(stage: Stage) -> None:
    tries = []

    @tool
    async def keep(store: Store, *, n: int) -> str:
        """Keep a page whose address is too long.

        Args:
            n: Bytes of its address.
        """
        tries.append(n)
        incompressible = Random(n).randbytes(n).hex()
        await store.sources.save(Page(f"https://x.example/?{incompressible}", "text", "text/html"))
        return "kept"

    stage.registry.register(keep)
    await stage.model(lambda request: [calls(call("keep", n=4000)), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(tries) == 1
    assert stage.server.requests[-1]["messages"][-1]["content"][0]["is_error"]


@pytest.mark.parametrize("words", ["a\x00b", "a\ud800b"])
async def test_words_that_postgres_cannot_keep_do_not_lose_the_answer(stage: Stage, words: str) -> None:
    await stage.model(lambda _: says(words))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"].startswith("a")


async def test_the_same_call_id_in_two_replies_means_two_calls(stage: Stage) -> None:
    script = [calls(use("call_0", {"words": "one"})), calls(use("call_0", {"words": "two"})), says("x")]
    await stage.model(lambda request: script[turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert stage.runs_of_tools == ["one", "two"]


async def test_arguments_that_are_no_object_are_an_error_the_model_reads(stage: Stage) -> None:
    await stage.model(lambda request: [calls(use("call_0", ["one"])), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert "must be an object" in stage.server.requests[-1]["messages"][-1]["content"][0]["content"]


BREAK_AT_ENTRY_5 = """
create function break_down() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
create trigger entries_break before insert on entries for each row when (new.n = 5) execute function break_down();
"""


async def test_a_taking_that_got_further_uses_up_no_attempt_and_begins_the_count_anew(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"max_attempts": 2})
    async with stage.pool.connection() as connection:
        await connection.execute(BREAK_AT_ENTRY_5)
    await stage.model(lambda _: calls(call("echo", words="on")))
    (run_id,) = await stage.submit("tides")
    await stage.rows("update runs set attempt = 2 where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["attempt"], row["turns"]) == ("queued", 1, 2)
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.LEFT
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.FAILED
    assert (await stage.row(run_id))["error"]["kind"] == "crash"


REFUSE_COMPLETION = """
create function refuse_completion() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
create trigger runs_refuse before update on runs for each row when (new.state = 'completed') execute function refuse_completion();
"""


async def test_a_run_whose_completion_postgres_refuses_fails_when_its_attempts_are_used_up(
    stage: Stage,
) -> None:
    stage.settings = stage.settings.model_copy(update={"max_attempts": 2})
    async with stage.pool.connection() as connection:
        await connection.execute(REFUSE_COMPLETION)
    await stage.model(lambda _: says("done"))
    (run_id,) = await stage.submit("tides")
    for attempt in (1, 2):
        assert await stage.play(run_id) is Outcome.LEFT
        row = await stage.row(run_id)
        assert (row["state"], row["attempt"]) == ("queued", attempt)
        await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.FAILED
    error = (await stage.row(run_id))["error"]
    assert (error["kind"], "refused" in error["message"]) == ("crash", True)
    assert len(stage.server.answered) == 1


async def test_a_message_in_the_last_turn_is_answered(stage: Stage) -> None:
    run_ids = []

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) == 0:
            await say(stage.pool, run_ids[0], "And why?")
        return says(f"answer {turn(request)}")

    await stage.model(script)
    run_ids += await stage.submit("tides", max_turns=1)
    assert await stage.play(run_ids[0]) is Outcome.PLAYED
    assert (await stage.row(run_ids[0]))["answer"] == "answer 1"


async def test_a_reply_that_is_being_committed_is_not_thrown_away_by_a_cut(stage: Stage) -> None:
    await stage.model(lambda _: says("paid for"))
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with stage.pool.connection() as connection:
        task = asyncio.create_task(execution.execute())
        while not stage.server.answered:
            await asyncio.sleep(0.001)
        async with connection.transaction():
            await connection.execute("select 1 from runs where id = %s for update", [run_id])
            while not task.done() and not await stage.rows(waiting):
                await asyncio.sleep(0.02)
            execution.cancel("the worker stops")
            await asyncio.sleep(0.1)
    await task
    if (await stage.row(run_id))["state"] == "queued":
        await stage.play(run_id)
    assert len(stage.server.answered) == 1
    assert (await stage.row(run_id))["answer"] == "paid for"


async def test_a_message_with_nul_is_kept_without_it(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await say(stage.pool, run_id, "a\x00b")
    assert await stage.rows("select text from inbox") == [{"text": "ab"}]


async def test_a_budget_needs_models_whose_price_is_known(stage: Stage) -> None:
    stage.model_name = "my-own"
    with pytest.raises(UsageError, match="CHIRON_PRICES"):
        await stage.submit("tides", budget=Budget(Decimal(1)))
