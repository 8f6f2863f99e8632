"""The model call that follows a tool's result is reserved with that result, and its money is gone when no call follows."""

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from support.executed_statements import Statements, executed_statements
from support.run_harness import LEASE, Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.batches.steering import pause
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import BudgetSpent
from chiron_workers.model import Model, Request
from chiron_workers.model.admission import Admission
from chiron_workers.pubsub.cooldowns import Cooldown
from chiron_workers.runs.entries import ToolCall, ToolResult
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, say
from chiron_workers.runs.messages import Message
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import hand_back

REQUEST = Request("claude-opus-5-5", "", [], 1_000, [Message.of("user", [{"type": "text", "text": "Why?"}])])


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    """Each statement that is executed meanwhile."""
    return executed_statements(monkeypatch)


def repeats(tool: str, turns: int) -> Callable[[dict[str, Any]], Says]:
    return lambda request: (
        says("done") if turn(request) == turns else calls(call(tool, words=f"words {turn(request)}"))
    )


async def money(stage: Stage, run_id: UUID) -> tuple[Decimal, int, list[int], int]:
    row = await stage.row(run_id)
    return row["reserved_usd"], row["reserved_calls"], row["calls_in_flight"], row["unconfirmed_calls"]


NOTHING = (0, 0, [], 0)


def metered(stage: Stage, run: Run, admission: Admission | None = None) -> MeteredModel:
    model = Model(stage.settings, admission or Admission(stage.settings), base_url="http://127.0.0.1:9")
    return MeteredModel(run, model, stage.pool, stage.settings)


async def settle(stage: Stage, model: MeteredModel, *, n: int = 1) -> bool | None:
    """Settle a call of a tool and reserve for the next call of the model, as the last result of a reply does."""
    run, journal = model.run, Journal(stage.pool, stage.published.append, lease_for=LEASE)
    advance = model.plan_advance(REQUEST, prompt_tokens=REQUEST.prompt_bytes)
    tool_call = ToolCall(f"toolu_{n}", "echo", {})
    async with Session(stage.pool, Caller(run_id=run.id)) as session:
        is_reserved = await journal.settle_call(
            run, 1, tool_call, ToolResult(tool_call.id, "x"), session, ms=1, events=[], next_call=advance
        )
    if advance is not None:
        model.note_reserved(is_reserved)
    return is_reserved


@pytest.mark.parametrize(("tool", "count"), [("echo", 2), ("note", 5)], ids=["reads", "writes"])
async def test_a_turn_takes_one_statement_for_the_reply_and_one_for_the_result(
    stage: Stage, statements: Statements, tool: str, count: int
) -> None:
    at_call: list[int] = []

    def script(request: dict[str, Any]) -> Says:
        at_call.append(len(statements))
        return repeats(tool, 6)(request)

    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    per_turn = [after - before for before, after in pairwise(at_call[1:])]
    # A tool that writes opens a transaction, writes in it, and commits it with its result.
    assert per_turn == [count] * 5, statements[at_call[1] : at_call[2]]
    assert await money(stage, run_id) == NOTHING


async def test_each_call_has_its_money_before_it_is_made(stage: Stage) -> None:
    reserved: list[int] = []

    async def script(request: dict[str, Any]) -> Says:
        row = (await stage.rows("select reserved_calls, reserved_usd from runs"))[0]
        reserved.append(row["reserved_calls"] * (row["reserved_usd"] > 0))
        if turn(request) == 1:
            return calls(call("echo", words="one"), call("note", words="two"), call("echo", words="three"))
        return repeats("note", 4)(request)

    await stage.model(script)
    (run_id,) = await stage.submit("tides", run_budget=Budget(Decimal(50)))
    assert await stage.play(run_id) is Outcome.PLAYED
    assert reserved == [1] * 5
    assert await money(stage, run_id) == NOTHING


@pytest.mark.parametrize("stop", ["pause", "worker"])
async def test_a_run_that_stops_after_a_result_has_nothing_reserved_or_unconfirmed(
    stage: Stage, stop: str
) -> None:
    await stage.model(repeats("echo", 3))
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    settle_call = execution._journal.settle_call
    reservations: list[bool | None] = []

    async def stop_after(*args: Any, **more: Any) -> bool | None:
        if stop == "pause":
            await pause(stage.pool, run_id)
        reservations.append(await settle_call(*args, **more))
        execution.stop("the worker stops")
        return reservations[-1]

    execution._journal.settle_call = stop_after  # type: ignore[method-assign]
    assert await execution.execute() is Outcome.LEFT
    assert reservations == [stop == "worker"], "what somebody wants stopped reserves nothing"
    assert await money(stage, run_id) == NOTHING


async def test_where_another_budget_binds_or_none_has_room_the_call_reserves_for_itself(stage: Stage) -> None:
    for budgets in ({"budget": Budget(Decimal(5))}, {"run_budget": Budget(tokens=100)}):
        (run_id,) = await stage.submit("tides", **budgets)
        assert await settle(stage, metered(stage, await stage.claim(run_id))) is False
        assert await money(stage, run_id) == NOTHING
    stage.settings = stage.settings.model_copy(update={"daily_budget_usd": Decimal(5)})
    (run_id,) = await stage.submit("tides")
    assert await settle(stage, metered(stage, await stage.claim(run_id))) is False


async def test_a_run_without_room_for_the_next_call_keeps_its_result_and_says_why_it_pauses(
    stage: Stage,
) -> None:
    await stage.model(repeats("echo", 3))
    (run_id,) = await stage.submit("tides", run_budget=Budget(tokens=45_000))
    run = await stage.claim(run_id)
    model = metered(stage, run)
    assert await settle(stage, model) is True
    await model.free_advance()
    await stage.rows("update runs set input_tokens = 45_000 returning 1")
    assert await settle(stage, model, n=2) is False
    with pytest.raises(BudgetSpent, match="The run has spent 45,000 tokens"):
        await model.reply(REQUEST, prompt_tokens=10, on_text=lambda _: None)
    assert len(await stage.rows("select 1 from tool_results")) == 2


async def test_what_is_not_known_to_be_reserved_is_freed_before_the_run_is_released(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    model = metered(stage, run)
    assert await settle(stage, model) is True
    model.note_reserved(None)  # as after a commit whose answer was lost
    await model.free_advance()
    assert await money(stage, run_id) == NOTHING
    await model.free_advance()
    assert await settle(stage, model, n=2) is True
    await model.free_advance()
    assert await Journal(stage.pool, stage.published.append, lease_for=LEASE).release(run, hand_back("stop"))
    assert await money(stage, run_id) == NOTHING


async def test_a_message_or_a_cool_down_has_the_call_reserve_for_itself(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    admission = Admission(stage.settings)
    model = metered(stage, run, admission)
    assert await say(stage.pool, run_id, "And the moon?") is False
    assert await settle(stage, model) is False, "the message makes the call longer"
    admission.apply(Cooldown(run.model, 30, "full"))
    assert model.plan_advance(REQUEST, prompt_tokens=10) is None
    await admission.close()
