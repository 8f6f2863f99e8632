"""What a server reports that a call took: counted where it can be, and never charged beyond what was reserved."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, says, text, turn

from chiron_api.cli.display.transcript import transcript_lines
from chiron_workers.agent import play
from chiron_workers.batches.steering import resume
from chiron_workers.billing.budgets import Budget
from chiron_workers.runs.transcript import read_transcript
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TWO_USD = Budget(Decimal(2))
HUGE = {"input_tokens": 500_000_000, "output_tokens": 10}
UNKNOWN: dict[str, dict[str, Any]] = {
    "none": {},
    "no input": {"output_tokens": 10},
    "no output": {"input_tokens": 100},
    "negative": {"input_tokens": -5, "output_tokens": 10},
    "a word": {"input_tokens": "many", "output_tokens": 10},
    "a fraction": {"input_tokens": 1.5, "output_tokens": 10},
    "a truth value": {"input_tokens": True, "output_tokens": 10},
    "beyond a column": {"input_tokens": 100, "output_tokens": 10**12},
    "a negative cache": {"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": -1},
    "odd details": {"input_tokens": 100, "output_tokens": 10, "cache_creation": 7},
}


def echo() -> Block:
    return call("echo", words="on")


async def reserved_by(stage: Stage) -> tuple[Decimal, int]:
    [row] = await stage.rows("select reserved_usd, reserved_tokens from runs")
    return row["reserved_usd"], row["reserved_tokens"]


async def transcript_of(stage: Stage, run_id: UUID) -> str:
    return "\n".join(
        [line async for entry in read_transcript(stage.pool, run_id) for line in transcript_lines(entry)]
    )


@pytest.mark.parametrize("usage", UNKNOWN.values(), ids=UNKNOWN)
async def test_a_reply_without_counts_costs_what_was_reserved_and_says_so(
    stage: Stage, usage: dict[str, Any]
) -> None:
    reserved = []

    async def reply(_: dict[str, Any]) -> Says:
        reserved.append(await reserved_by(stage))
        return Says((text("x"),), usage=usage)

    await stage.model(reply)
    (run_id,) = await stage.submit("tides", run_budget=TWO_USD)
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["spent_usd"], row["spent_tokens"]) == reserved[0]
    assert row["spent_usd"] > 0
    assert row["reserved_usd"] == row["unconfirmed_usd"] == 0
    [entry] = await stage.rows("select body, cost_usd from entries where kind = 'reply'")
    assert (entry["body"]["usage_unknown"], entry["cost_usd"]) == (True, reserved[0][0])
    [event] = await stage.rows("select data from events where kind = 'model.replied'")
    assert event["data"]["usage_unknown"] is True
    assert "all that was reserved for it counts" in await transcript_of(stage, run_id)


async def test_a_server_without_counts_ends_no_budget_too_late_and_fills_no_window(stage: Stage) -> None:
    prompts = []

    def reply(request: dict[str, Any]) -> Says:
        prompts.append(request["messages"])
        return Says((echo(),), "tool_use", usage={})

    await stage.model(reply)
    (run_id,) = await stage.submit("tides", run_budget=TWO_USD)
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["error"]["kind"]) == ("paused", "budget")
    assert row["turns"] == len(prompts) >= 2
    assert row["spent_usd"] <= 2
    kinds = await stage.rows("select distinct kind from entries where kind = 'folding'")
    assert kinds == [], "what was reserved is no measure of the window"


async def test_a_count_that_cannot_be_is_charged_as_reserved_and_pauses_the_run(stage: Stage) -> None:
    reserved = []

    async def reply(request: dict[str, Any]) -> Says:
        reserved.append(await reserved_by(stage))
        return Says((echo(),), "tool_use", usage=HUGE) if turn(request) == 0 else says("the end")

    await stage.model(reply)
    (run_id,) = await stage.submit("tides", run_budget=TWO_USD)
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 1, "reported_cost")
    assert "500,000,010 tokens (2,000.0002 USD)" in row["error"]["message"]
    assert (row["spent_usd"], row["spent_tokens"]) == reserved[0]
    [entry] = await stage.rows("select body from entries where kind = 'reply'")
    assert entry["body"]["reported"] == {"usd": 2000.0002, "tokens": 500_000_010}
    assert "The server reports $2,000.00 for 500,000,010 tokens" in await transcript_of(stage, run_id)
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["answer"], row["turns"], stage.runs_of_tools) == ("the end", 2, ["on"])
    assert reserved[1][1] < 2 * reserved[0][1], "the count is no measure of the window"


class Killed(BaseException):
    """The end of a worker."""


def die(overcharge: str) -> None:
    if overcharge:
        raise Killed


async def test_a_worker_killed_before_the_pause_leaves_it_to_the_next_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.model(
        lambda request: Says((echo(),), "tool_use", usage=HUGE) if turn(request) == 0 else says("the end")
    )
    (run_id,) = await stage.submit("tides", run_budget=TWO_USD)
    with monkeypatch.context() as patches:
        patches.setattr(play, "_require_fair", die)
        with pytest.raises(Killed):
            await stage.play(run_id)
    await stage.rows("update runs set state = 'queued' returning 1")
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 1, "reported_cost")
    assert stage.runs_of_tools == []
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (len(stage.server.requests), stage.runs_of_tools) == (2, ["on"])


async def test_a_tool_that_is_called_again_pauses_the_run_for_the_answer_that_it_had(stage: Stage) -> None:
    is_killed = True

    @tool
    async def ask(store: Store) -> str:
        """Ask the model a question."""
        assert store.side_model is not None
        reply = await store.side_model.ask("Is it so?", tools=[], max_tokens=9)
        if is_killed:
            raise Killed
        return reply.text

    stage.registry.register(ask)
    await stage.model(
        lambda request: (
            [calls(call("ask")), says("the end")][turn(request)]
            if request.get("tools")
            else Says((text("yes"),), usage=HUGE)
        )
    )
    (run_id,) = await stage.submit("tides", run_budget=TWO_USD)
    with pytest.raises(Killed):
        await stage.play(run_id)
    is_killed = False
    await stage.rows("update runs set state = 'queued' returning 1")
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 1, "reported_cost")
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.requests) == 3


async def test_a_model_without_price_is_held_to_its_tokens(stage: Stage, unpriced: str) -> None:
    stage.model_name = unpriced
    await stage.model(lambda _: Says((text("x"),), usage=HUGE))
    (run_id,) = await stage.submit("tides", run_budget=Budget(tokens=100_000))
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["error"]["kind"], row["spent_usd"]) == ("paused", "reported_cost", 0)
    assert "500,000,010 tokens for a call of at most" in row["error"]["message"]
    assert row["spent_tokens"] <= 100_000
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
