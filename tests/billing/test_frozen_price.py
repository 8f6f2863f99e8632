"""A budget is kept where workers do not know the price: it is frozen in the run's row when the run is submitted."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, text, turn

from chiron_workers.batches.steering import resume, retry
from chiron_workers.batches.submit import NO_BUDGET
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import UsageError
from chiron_workers.runs.session import Session
from chiron_workers.states import Outcome
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscriptions

Setting = Callable[[str, str], None]
DEAR = '{"my-own": {"input": 10, "output": 1000}}'
CENT = Budget(Decimal("0.01"))


def endless(_: dict[str, Any]) -> Says:
    return Says((call("echo", words="on"),), "tool_use", {"input_tokens": 1_000, "output_tokens": 4_000})


async def forget_price(stage: Stage) -> None:
    """As if a version before had submitted the runs."""
    await stage.rows("update runs set price = null returning 1")


async def test_a_budget_is_kept_where_workers_do_not_know_the_price(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    assert stage.settings.prices == {}
    await stage.model(endless)
    for where in ({"budget": CENT}, {"run_budget": CENT}):
        (run_id,) = await stage.submit("tides", **where)
        await stage.play(run_id)
        row = await stage.row(run_id)
        assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 0, "budget")
    (run_id,) = await stage.submit("tides", run_budget=Budget(Decimal(20)))
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["spent_usd"]) == ("paused", 1, Decimal("4.01"))
    assert stage.server.answered[0]["model"] == "my-own"


async def test_the_price_of_the_submit_stays_when_prices_change(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    await stage.model(lambda _: Says((text("x"),), usage={"input_tokens": 1_000, "output_tokens": 1_000}))
    (run_id,) = await stage.submit("tides")
    stage.settings = stage.settings.model_copy(update={"prices": {"my-own": {"input": 0.0, "output": 0.0}}})
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["spent_usd"] == Decimal("1.01")


async def test_research_that_recurs_freezes_the_price_too(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    hour = (datetime.now(ZoneInfo("UTC")).hour + 12) % 24
    async with Session(stage.pool) as session:
        new = NewSubscription(["sea ice"], "The Arctic", Recurrence(f"0 {hour} * * *", "UTC"), model="my-own")
        await Subscriptions(session).create(new)
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    await stage.rows("update subscriptions set next_at = %s returning 1", at)
    await start_due(stage.pool)
    [row] = await stage.rows("select price, budget_usd from runs")
    assert row["price"]["steps"][0]["output"] == "1000.0"


async def test_a_run_with_a_budget_and_no_price_does_not_start(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    await stage.model(endless)
    for where in ({"budget": CENT}, {"run_budget": CENT}, {}):
        (run_id,) = await stage.submit("tides", **where)
        await forget_price(stage)
        if "budget" in where:
            await stage.rows("update runs set budget_usd = null returning 1")
        await stage.play(run_id)
        row = await stage.row(run_id)
        assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 0, "price")
        assert "the price of my-own is not known" in row["error"]["message"]
        assert [remedy["action"] for remedy in row["error"]["remedies"]] == ["change_setting", "resume"]
        assert (await stage.kinds(run_id))[-1] == "run.paused"
    assert stage.server.requests == []


async def test_a_row_without_price_plays_as_its_worker_knows(stage: Stage, unpriced: str) -> None:
    await stage.model(lambda _: Says((text("x"),), usage={"input_tokens": 1_000, "output_tokens": 0}))
    (priced_id,) = await stage.submit("tides")
    stage.model_name = unpriced
    (unpriced_id,) = await stage.submit("tides")
    await forget_price(stage)
    await stage.rows("update runs set budget_usd = 20 returning 1")  # what versions before wrote
    stage.settings = stage.settings.model_copy(update={"prices": {unpriced: "none"}})
    for run_id, spent, unpriced_calls in ((priced_id, Decimal("0.004"), 0), (unpriced_id, 0, 1)):
        assert await stage.play(run_id) is Outcome.PLAYED
        row = await stage.row(run_id)
        assert (row["spent_usd"], row["unpriced_calls"]) == (spent, unpriced_calls)


async def test_resume_needs_the_price_of_a_run_that_waits_for_it_and_freezes_it(
    stage: Stage, setting: Setting
) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    await stage.model(lambda _: says("done"))
    (run_id,) = await stage.submit("tides")
    await forget_price(stage)
    await stage.play(run_id)
    setting("PRICES", "{}")
    before = await stage.row(run_id)
    with pytest.raises(UsageError, match="price of my-own is not known"):
        await resume(stage.pool, run_id)
    assert await stage.row(run_id) == before
    setting("PRICES", DEAR)
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["spent_usd"] == Decimal("0.011")


async def test_retry_freezes_the_price_of_a_row_that_has_none(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    (run_id,) = await stage.submit("tides")
    await forget_price(stage)
    await stage.rows("update runs set state = 'failed' returning 1")
    await stage.rows("update batches set open_runs = 0 returning 1")
    await retry(stage.pool, run_id)
    assert (await stage.row(run_id))["price"]["source"] == "settings"


async def test_a_budget_given_later_goes_by_the_frozen_price(stage: Stage, setting: Setting) -> None:
    setting("PRICES", DEAR)
    stage.model_name = "my-own"
    (run_id,) = await stage.submit("tides", run_budget=CENT)
    setting("PRICES", "{}")
    await stage.rows("update runs set state = 'paused' returning 1")
    await resume(stage.pool, run_id, budget=Budget(Decimal(3)))
    assert (await stage.row(run_id))["budget_usd"] == 3


async def test_what_is_said_to_have_no_price_has_no_budget_in_usd(stage: Stage, unpriced: str) -> None:
    stage.model_name = unpriced
    await stage.model(lambda _: says("x"))
    (run_id,) = await stage.submit("tides")
    row = await stage.row(run_id)
    assert (row["price"], row["budget_usd"]) == ("none", None)
    assert await stage.play(run_id) is Outcome.PLAYED
    await stage.rows("update runs set budget_usd = 1, state = 'queued' returning 1")
    await stage.rows("update batches set open_runs = 1 returning 1")
    await stage.rows(
        "insert into inbox (id, run_id, text) values (gen_random_uuid(), %s, 'on') returning 1", run_id
    )
    await stage.rows("update runs set unread = 1 returning 1")
    await stage.play(run_id)
    assert (await stage.row(run_id))["error"]["kind"] == "price"


@pytest.mark.parametrize(
    ("prices", "answering_model", "usd_of_1000"),
    [
        ("{}", "claude-opus-5-5", 4),
        ("{}", "claude-opus-5-5-20260401", 4),
        ("{}", "claude-haiku-4-5", 4),
        ("{}", "claude-opus-4-1", 4),  # a dearer one
        ("{}", "who-knows", 4),
        ('{"claude-opus-5-5": {"input": 2, "output": 2}}', "claude-haiku-4-5", 2),
    ],
)
async def test_a_reply_costs_what_the_model_that_was_asked_costs_whatever_model_it_names(
    stage: Stage, setting: Setting, prices: str, answering_model: str, usd_of_1000: int
) -> None:
    setting("PRICES", prices)
    usage = {"input_tokens": 1_000, "output_tokens": 0}
    await stage.model(lambda _: Says((text("x"),), usage=usage, model=answering_model))
    (run_id,) = await stage.submit("tides", run_budget=NO_BUDGET)
    await stage.play(run_id)
    assert (await stage.row(run_id))["spent_usd"] == Decimal(usd_of_1000) / 1_000
    [entry] = await stage.rows("select body from entries where kind = 'reply'")
    assert entry["body"]["model"] == answering_model


async def test_replies_whose_cost_nobody_knows_are_counted(stage: Stage, unpriced: str) -> None:
    stage.model_name = unpriced
    script = [calls(call("echo", words="a")), says("x")]
    await stage.model(lambda request: script[turn(request)])
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["spent_usd"], row["unpriced_calls"]) == (0, 2)
