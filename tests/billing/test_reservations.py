"""Money set aside before a call: no budget is ever passed, whoever asks at once."""

import asyncio
import random
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

import pytest
from support.run_harness import LEASE, Stage, open_stage

from chiron_workers.agent.answer import Answer
from chiron_workers.batches.submit import NO_BUDGET
from chiron_workers.billing.budgets import Budget
from chiron_workers.billing.reservations import release, reserve, write_off
from chiron_workers.errors import BudgetSpent, LeaseLost, MoneyReserved
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.entries import MaxCost, Question, Reply, ToolCall, ToolResult, Usage
from chiron_workers.runs.fence import shard_of
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, say
from chiron_workers.runs.release import SQL
from chiron_workers.runs.rescue import rescue
from chiron_workers.runs.session import Caller, Session
from chiron_workers.worker.execution import completion, hand_back

CALL = MaxCost(Decimal("0.40"), 1_000)


@pytest.fixture
async def stage(pool, settings, embedder):
    async with open_stage(pool, settings, embedder) as made:
        yield made


def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


async def taken(stage: Stage, *, budget: Budget = NO_BUDGET, run_budget: Budget = NO_BUDGET) -> Run:
    (run_id,) = await stage.submit("tides", budget=budget, run_budget=run_budget)
    return await stage.claim(run_id)


async def money(stage: Stage, run_id: UUID) -> tuple[Decimal, Decimal, int]:
    row = await stage.row(run_id)
    return row["reserved_usd"], row["unconfirmed_usd"], row["unconfirmed_calls"]


async def answer(stage: Stage, run: Run, cost: str, *, reserved: MaxCost = CALL) -> None:
    n = (await stage.row(run.id))["entries"] + 1
    reply = Reply((), "end_turn", Usage(100, 10), Decimal(cost), reserved=reserved)
    await journal(stage).append(run, reply, n=n)


async def test_a_reply_settles_what_was_reserved_for_it(stage: Stage) -> None:
    run = await taken(stage, budget=Budget(Decimal(1)))
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    assert (await stage.row(run.id))["reserved_calls"] == 1
    await answer(stage, run, "0.05")
    row = await stage.row(run.id)
    assert (row["reserved_usd"], row["reserved_tokens"], row["reserved_calls"]) == (0, 0, 0)
    assert (row["spent_usd"], row["spent_tokens"], row["unconfirmed_usd"]) == (Decimal("0.05"), 110, 0)
    (batch,) = await stage.rows("select spent_usd, spent_tokens, unconfirmed_usd from batch_costs")
    assert batch == {"spent_usd": Decimal("0.05"), "spent_tokens": 110, "unconfirmed_usd": 0}
    assert (await stage.rows("select sum(usd) as usd from spending"))[0]["usd"] == Decimal("0.05")


@pytest.mark.parametrize(
    "budgets",
    [
        {"budget": Budget(Decimal(1))},
        {"budget": Budget(tokens=2_500)},
        {"run_budget": Budget(Decimal(1))},
        {"run_budget": Budget(tokens=2_500)},
    ],
    ids=["usd of the batch", "tokens of the batch", "usd of the run", "tokens of the run"],
)
async def test_a_call_that_may_not_fit_waits_for_those_in_flight_and_stops_when_the_money_is_spent(
    stage: Stage, budgets: dict[str, Budget]
) -> None:
    run = await taken(stage, **budgets)
    second, third, fourth = (replace(CALL, call=number) for number in (2, 3, 4))
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await reserve(stage.pool, run, second, daily_usd=None, lease_for=LEASE)
    before = await stage.row(run.id)
    with pytest.raises(MoneyReserved):
        await reserve(stage.pool, run, third, daily_usd=None, lease_for=LEASE)
    assert await stage.row(run.id) == before
    await answer(stage, run, "0.39")
    await stage.rows("update runs set input_tokens = 990 returning id")
    await stage.rows("update batches set spent_tokens = 990 returning id")
    with pytest.raises(MoneyReserved):
        await reserve(stage.pool, run, third, daily_usd=None, lease_for=LEASE)
    await release(stage.pool, run, second)
    await reserve(stage.pool, run, third, daily_usd=None, lease_for=LEASE)
    await answer(stage, run, "0.39", reserved=third)
    await stage.rows("update runs set input_tokens = 1990 returning id")
    await stage.rows("update batches set spent_tokens = 1990 returning id")
    with pytest.raises(BudgetSpent, match=r"the next call may cost"):
        await reserve(stage.pool, run, fourth, daily_usd=None, lease_for=LEASE)


async def test_200_runs_that_ask_at_once_never_pass_the_budget_of_their_batch(
    stage: Stage, chance: random.Random
) -> None:
    budget, most = Decimal(3), MaxCost(Decimal("0.10"), 100)
    ids = await stage.submit(*(f"topic {n}" for n in range(200)), budget=Budget(budget))
    runs = [await stage.claim(run_id) for run_id in ids]
    gate = asyncio.Semaphore(4)  # connections of the pool
    costs = {run.id: Decimal(chance.randrange(1, 100_000)) / 1_000_000 for run in runs}

    async def ask(run: Run) -> str:
        async with gate:
            try:
                await reserve(stage.pool, run, most, daily_usd=None, lease_for=LEASE)
            except (MoneyReserved, BudgetSpent) as error:
                return type(error).__name__
        async with gate:
            (sums,) = await stage.rows(
                "select sum(reserved_usd + spent_usd + unconfirmed_usd) as usd from runs"
            )
            assert sums["usd"] <= budget
            await answer(stage, run, str(costs[run.id]), reserved=most)
        return "answered"

    found: list[str] = []
    left = runs
    while left and found.count("answered") < len(runs):
        said = await asyncio.gather(*(ask(run) for run in left))
        found += said
        left = [run for run, word in zip(left, said, strict=True) if word == "MoneyReserved"]
    (batch,) = await stage.rows("select spent_usd from batch_costs")
    assert budget - most.usd < batch["spent_usd"] <= budget
    assert found.count("BudgetSpent") == 200 - found.count("answered")


async def test_what_the_whole_day_may_cost_binds_all_batches_together(stage: Stage) -> None:
    runs = [await taken(stage) for _ in range(3)]
    cap = Decimal("1.0")
    await reserve(stage.pool, runs[0], CALL, daily_usd=cap, lease_for=LEASE)
    await reserve(stage.pool, runs[1], CALL, daily_usd=cap, lease_for=LEASE)
    with pytest.raises(MoneyReserved, match="Today"):
        await reserve(stage.pool, runs[2], CALL, daily_usd=cap, lease_for=LEASE)
    await answer(stage, runs[0], "0.35")
    await answer(stage, runs[1], "0.35")
    with pytest.raises(BudgetSpent, match=r"Today has spent 0\.7000 USD") as caught:
        await reserve(stage.pool, runs[2], CALL, daily_usd=cap, lease_for=LEASE)
    assert 0 < (caught.value.retry_after_s or 0) <= 86_400
    await stage.rows("update spending set day = day - 1 returning day")
    await reserve(stage.pool, runs[2], CALL, daily_usd=cap, lease_for=LEASE)


async def test_a_call_that_costs_more_than_a_whole_day_may_waits_for_no_day(stage: Stage) -> None:
    run = await taken(stage)
    with pytest.raises(BudgetSpent, match="CHIRON_DAILY_BUDGET_USD") as caught:
        await reserve(stage.pool, run, CALL, daily_usd=Decimal("0.39"), lease_for=LEASE)
    assert caught.value.retry_after_s is None


async def test_a_call_that_surely_cost_nothing_gives_its_money_back(stage: Stage) -> None:
    run = await taken(stage)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await release(stage.pool, run, CALL)
    assert await money(stage, run.id) == (0, 0, 0)


async def test_a_call_that_was_cut_counts_as_unconfirmed_everywhere(stage: Stage) -> None:
    run = await taken(stage)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await write_off(stage.pool, run, CALL)
    assert await money(stage, run.id) == (0, CALL.usd, 1)
    (batch,) = await stage.rows("select spent_usd, unconfirmed_usd, unconfirmed_tokens from batch_costs")
    assert batch == {"spent_usd": 0, "unconfirmed_usd": CALL.usd, "unconfirmed_tokens": CALL.tokens}
    assert (await stage.rows("select sum(usd) as usd from spending"))[0]["usd"] == CALL.usd


async def test_unconfirmed_money_counts_against_the_budget(stage: Stage) -> None:
    run = await taken(stage, budget=Budget(Decimal("0.70")))
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await write_off(stage.pool, run, CALL)
    with pytest.raises(BudgetSpent):
        await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)


async def test_a_takeover_counts_the_call_of_the_dead_worker_as_unconfirmed(stage: Stage) -> None:
    run = await taken(stage)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await stage.rows("update runs set leased_until = now() - interval '1 hour' returning id")
    assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
    assert await money(stage, run.id) == (0, CALL.usd, 1)
    (batch,) = await stage.rows("select c.unconfirmed_usd, finished_at from batch_costs c, batches")
    assert batch == {"unconfirmed_usd": CALL.usd, "finished_at": None}
    for late in (
        reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE),
        release(stage.pool, run, CALL),
        write_off(stage.pool, run, CALL),
    ):
        with pytest.raises(LeaseLost):
            await late
    assert await money(stage, run.id) == (0, CALL.usd, 1)


async def test_a_run_that_is_handed_back_between_two_calls_has_nothing_unconfirmed(stage: Stage) -> None:
    run = await taken(stage)
    await journal(stage).append(run, Question("?"), n=1)
    assert await journal(stage).release(run, hand_back("the worker stops"))
    assert await money(stage, run.id) == (0, 0, 0)


async def test_a_reservation_that_a_crash_of_postgres_forgot_leaves_none_below_zero(stage: Stage) -> None:
    run = await taken(stage, budget=Budget(Decimal(1)))
    for settle in (
        answer(stage, run, "0.05"),
        release(stage.pool, run, CALL),
        write_off(stage.pool, run, CALL),
    ):
        await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
        await stage.rows(
            "update runs set reserved_usd = 0, reserved_tokens = 0, reserved_calls = 0 returning id"
        )
        await settle
        row = await stage.row(run.id)
        assert (row["reserved_usd"], row["reserved_tokens"], row["reserved_calls"]) == (0, 0, 0)
    assert await journal(stage).release(run, hand_back("the worker stops"))
    assert await money(stage, run.id) == (0, CALL.usd, 1)


async def test_the_rescue_of_many_runs_waits_for_nobody_who_waits_for_their_batch(stage: Stage) -> None:
    ids = await stage.submit(*"abcdefghij", budget=Budget(Decimal(10)))
    other = next(run_id for run_id in ids[1:] if shard_of(run_id) != shard_of(ids[0]))
    lost = [await stage.claim(run_id) for run_id in (ids[0], other)]
    for run in lost:
        await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await stage.rows(
        "update runs set leased_until = now() - interval '1 hour' where id = any(%s) returning id",
        [run.id for run in lost],
    )
    async with stage.pool.connection() as living, living.transaction():
        # What the commit of a reply holds before it comes to the sums of the batch.
        sums = {"batch_id": lost[1].batch_id, "shard": shard_of(lost[1].id), "usd": 1, "tokens": 1}
        await living.execute(SQL["spend"], sums)
        rescuing = asyncio.create_task(rescue(journal(stage), may_rescue=lambda _: True))
        await until_somebody_waits(stage)
        await living.execute(SQL["count_unconfirmed"], sums)
    assert await rescuing == 2
    assert [await money(stage, run.id) for run in lost] == [(0, CALL.usd, 1)] * 2


async def until_somebody_waits(stage: Stage) -> None:
    async with asyncio.timeout(60):
        while not await stage.rows(
            "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ):
            await asyncio.sleep(0.02)


async def test_a_run_that_must_answer_a_message_before_it_ends_pays_nothing_for_the_try(stage: Stage) -> None:
    run = await taken(stage)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await say(stage.pool, run.id, "And the moon?")
    assert not await journal(stage).release(run, completion(Answer("")))
    assert await stage.rows("select usd from spending") == []
    assert await money(stage, run.id) == (CALL.usd, 0, 0)


@pytest.mark.parametrize("budget", [NO_BUDGET, Budget(Decimal(100), None)])
async def test_a_call_that_begins_renews_the_lease(stage: Stage, budget: Budget) -> None:
    (run_id,) = await stage.submit("tides", budget=budget)
    run = await stage.claim(run_id)
    await stage.rows("update runs set leased_until = now() where id = %s returning id", run_id)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    [left] = await stage.rows("select leased_until - now() as time from runs where id = %s", run_id)
    assert left["time"] > LEASE / 2


async def test_a_tool_that_waited_long_renews_the_lease_from_the_moment_its_result_is_written(
    stage: Stage,
) -> None:
    run = await taken(stage)
    call, result = ToolCall("toolu_1", "linger", {}), ToolResult("toolu_1", "done")
    async with Session(stage.pool, Caller(run_id=run.id)) as session:
        # Its transaction begins here, and may wait for a migration.
        await Subjects(session).ensure("tides", "Tides")
        [later] = await stage.rows("select clock_timestamp() as at")
        await journal(stage).settle_call(run, 1, call, result, session, ms=1, events=[])
    assert (await stage.row(run.id))["leased_until"] >= later["at"] + LEASE


async def test_a_result_shortens_no_lease_that_a_migration_made_longer(stage: Stage) -> None:
    run = await taken(stage)
    await stage.rows(
        "update runs set leased_until = now() + interval '1 hour' where id = %s returning id", run.id
    )
    await answer(stage, run, "0.05")
    [left] = await stage.rows("select leased_until - now() as time from runs where id = %s", run.id)
    assert left["time"] > LEASE * 2
