"""What a model answers to a tool is paid for once, whenever the worker dies."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs
from support.refusing_postgres import refuse
from support.run_harness import LEASE, Stage
from support.scripted_model import Fails, Says, call, calls, says, turn

from chiron_workers.agent import conversation
from chiron_workers.errors import LeaseLost
from chiron_workers.runs.entries import MaxCost, Reply, SideQuestion, Usage
from chiron_workers.runs.journal import Journal
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

QUESTIONS = ("Is it so?", "Is it so?", "And why?")
PRICE = Decimal("0.0006")  # 100 x $4 + 10 x $20 per million


def side_question(request: dict[str, Any]) -> str | None:
    return None if request.get("tools") else request["messages"][0]["content"][0]["text"]


class Interview:
    """A tool that asks the model three questions, two of them alike, and then waits before its result is committed."""

    def __init__(self, stage: Stage) -> None:
        self.asked: list[str] = []  # by the log of the model's server
        self.answers: list[list[str]] = []  # of each execution of the tool
        self.has_answers = asyncio.Event()
        self.may_end = asyncio.Event()
        interview = self

        @tool
        async def ask_around(store: Store) -> str:
            """Ask the model some questions."""
            assert store.side_model is not None
            replies = [await store.side_model.ask(question, tools=[], max_tokens=9) for question in QUESTIONS]
            interview.answers.append([reply.text for reply in replies])
            interview.has_answers.set()
            await interview.may_end.wait()
            return "done"

        stage.registry.register(ask_around)

    def script(self, request: dict[str, Any]) -> Says | Fails:
        question = side_question(request)
        if question is None:
            return [calls(call("ask_around")), says("The end.")][turn(request)]
        self.asked.append(question)
        return says(f"answer {len(self.asked)}")


async def sums(stage: Stage, run_id: UUID) -> dict[str, Any]:
    row = await stage.row(run_id)
    [parts] = await stage.rows(
        """select (select coalesce(sum(cost_usd), 0) from entries) as entries,
                  (select coalesce(sum(cost_usd), 0) from tool_results) as results,
                  (select coalesce(sum(cost_usd), 0) from side_replies) as answers,
                  (select spent_usd from batch_costs) as batch, (select sum(usd) from spending) as day"""
    )
    assert row["spent_usd"] == parts["entries"] + parts["results"] + parts["answers"]
    assert row["spent_usd"] == parts["batch"] == parts["day"]
    assert (row["reserved_usd"], row["reserved_tokens"], row["reserved_calls"]) == (0, 0, 0)
    assert (row["unconfirmed_usd"], row["unconfirmed_calls"]) == (0, 0)
    return parts


async def test_a_worker_that_dies_between_answer_and_result_repeats_no_question(stage: Stage) -> None:
    interview = Interview(stage)
    await stage.model(interview.script)
    (run_id,) = await stage.submit("tides")
    first = asyncio.create_task(stage.play(run_id))
    await asyncio.wait_for(interview.has_answers.wait(), 60)
    assert (await sums(stage, run_id))["answers"] == 3 * PRICE, "paid for before the tool uses them"
    first.cancel()  # as a killed worker: nothing more is written
    await asyncio.gather(first, return_exceptions=True)
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    interview.may_end.set()
    assert await stage.play(run_id) is Outcome.PLAYED
    assert interview.asked == list(QUESTIONS)
    assert interview.answers == [["answer 1", "answer 2", "answer 3"]] * 2
    paid = await sums(stage, run_id)
    assert (paid["results"], paid["answers"]) == (3 * PRICE, 0), "the result says what its answers cost"
    assert await stage.rows("select 1 from side_replies") == []


async def test_a_tool_that_fails_after_its_questions_says_what_they_cost(stage: Stage) -> None:
    @tool
    async def ask_and_fail(store: Store) -> str:
        """Ask the model, then fail."""
        assert store.side_model is not None
        await store.side_model.ask("Is it so?", tools=[], max_tokens=9)
        raise RuntimeError("the tool broke")

    stage.registry.register(ask_and_fail)
    await stage.model(
        lambda request: (
            says("yes") if side_question(request) else [calls(call("ask_and_fail")), says("x")][turn(request)]
        )
    )
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await sums(stage, run_id))["results"] == PRICE


async def test_an_answer_is_paid_for_once_and_only_under_the_lease(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    question = SideQuestion(3, "toolu_1", "hash", 1)
    reply = Reply(
        ({"type": "text", "text": "yes"},), "end_turn", Usage(100, 10), PRICE, reserved=MaxCost(PRICE, 110)
    )
    assert await journal.read_side_reply(run, question) is None
    for _ in range(2):  # the second as after an outage, when nobody knows what was committed
        await journal.append_side_reply(run, question, reply)
    assert (await stage.row(run_id))["spent_usd"] == PRICE
    stored = await journal.read_side_reply(run, question)
    assert stored is not None
    assert (stored.text, stored.cost_usd, stored.usage) == ("yes", PRICE, Usage(100, 10))
    await stage.rows("update runs set lease = lease + 1 where id = %s returning 1", run_id)
    with pytest.raises(LeaseLost):
        await journal.append_side_reply(run, SideQuestion(3, "toolu_1", "other", 1), reply)
    assert (await stage.row(run_id))["spent_usd"] == PRICE


async def run_that_asks_once(stage: Stage) -> tuple[UUID, list[str]]:
    """A run whose tool asks the model one question, and what the model was asked by it."""
    asked: list[str] = []

    @tool
    async def ask(store: Store) -> str:
        """Ask the model a question."""
        assert store.side_model is not None
        return (await store.side_model.ask("Is it so?", tools=[], max_tokens=9)).text

    async def script(request: dict[str, Any]) -> Says:
        if question := side_question(request):
            asked.append(question)
            return says("yes")
        [row] = await stage.rows("select reserved_calls from runs")
        assert row["reserved_calls"] == 1, "of the conversation's own call"
        return [calls(call("ask")), says("The end.")][turn(request)]

    stage.registry.register(ask)
    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    return run_id, asked


async def test_an_answer_is_stored_though_the_tools_time_is_over_before_postgres_takes_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "COMMIT_S", 0.1)  # for runs that are cancelled, and this one is not
    stage.settings = stage.settings.model_copy(update={"tool_timeout_s": 0.5})
    run_id, asked = await run_that_asks_once(stage)
    heal = refuse(stage.settings.database_url, table="side_replies", code="53100")
    playing = asyncio.create_task(stage.play(run_id))
    with capture_logs() as logs:
        async with asyncio.timeout(60):
            while not any(line["event"] == "reply.waits" for line in logs):
                await asyncio.sleep(0.01)
    await asyncio.sleep(1)  # twice the tool's time
    heal()
    assert await asyncio.wait_for(playing, 60) is Outcome.PLAYED
    assert asked == ["Is it so?"]
    assert (await sums(stage, run_id))["results"] == PRICE
    [result] = await stage.rows("select is_error, body from tool_results")
    assert result["is_error"]
    assert "0.5" in result["body"], "the tool is told that its time is over"


async def test_an_answer_that_postgres_cannot_hold_keeps_no_money_reserved(stage: Stage) -> None:
    run_id, _ = await run_that_asks_once(stage)
    refuse(stage.settings.database_url, table="side_replies", code="22001")
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["reserved_calls"], row["reserved_usd"], row["unconfirmed_calls"]) == (0, 0, 1)
