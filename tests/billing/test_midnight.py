"""The day's budget where one day (UTC) ends: a call counts on the day on which it is settled, and no day is overspent."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from support.run_harness import LEASE, Stage, open_stage
from support.sql_clock import SqlClock

from chiron_workers.billing.reservations import reserve
from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import BudgetSpent, MoneyReserved
from chiron_workers.runs.entries import MaxCost, Reply, Usage
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.settings import Settings

LIMIT = Decimal(1)
CALL = MaxCost(Decimal("0.40"), 1_000)
MIDNIGHT = datetime.combine(datetime.now(UTC) + timedelta(days=2), time(), UTC)
BEFORE, AFTER = MIDNIGHT - timedelta(seconds=1), MIDNIGHT + timedelta(seconds=1)


@pytest.fixture
async def clocked(settings: Settings, embedder: Embedder) -> AsyncIterator[tuple[Stage, SqlClock]]:
    clock = SqlClock(settings.database_url)
    clock.stop_at(BEFORE)
    async with (
        open_pool(settings.database_url, size=8) as pool,
        open_stage(pool, settings, embedder) as stage,
    ):
        yield stage, clock
    clock.close()


async def claimed(stage: Stage, count: int) -> list[Run]:
    return [await stage.claim(run_id) for run_id in await stage.submit(*(f"topic {n}" for n in range(count)))]


async def ask(stage: Stage, run: Run) -> None:
    await reserve(stage.pool, run, CALL, daily_usd=LIMIT, lease_for=LEASE)


async def settle(stage: Stage, run: Run, cost: str) -> None:
    n = (await stage.row(run.id))["entries"] + 1
    reply = Reply((), "end_turn", Usage(100, 10), Decimal(cost), reserved=CALL)
    await Journal(stage.pool, stage.published.append, lease_for=LEASE).append(run, reply, n=n)


async def spent(stage: Stage) -> dict[date, Decimal]:
    rows = await stage.rows("select day, sum(usd) as usd from spending group by day")
    return {row["day"]: row["usd"] for row in rows}


async def test_a_call_that_is_settled_after_midnight_counts_on_the_new_day(
    clocked: tuple[Stage, SqlClock],
) -> None:
    stage, clock = clocked
    first, second, third, fourth = await claimed(stage, 4)
    await ask(stage, first)
    await ask(stage, second)
    clock.stop_at(AFTER)
    with pytest.raises(MoneyReserved):  # what is in flight since yesterday may be paid for today
        await ask(stage, third)
    await settle(stage, first, "0.40")
    await settle(stage, second, "0.10")
    await ask(stage, third)
    await settle(stage, third, "0.40")
    with pytest.raises(BudgetSpent) as refusal:
        await ask(stage, fourth)
    assert refusal.value.retry_after_s == 86_399
    assert await spent(stage) == {AFTER.date(): Decimal("0.90")}


async def test_a_reservation_that_waited_over_midnight_looks_at_the_new_day(
    clocked: tuple[Stage, SqlClock],
) -> None:
    stage, clock = clocked
    (run,) = await claimed(stage, 1)
    async with stage.pool.connection() as other, other.transaction():
        await other.execute("select pg_advisory_xact_lock(7201848)")
        asking = asyncio.ensure_future(ask(stage, run))
        waiting = (
            "select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()"
        )
        while not await stage.rows(waiting):
            await asyncio.sleep(0.01)
        clock.stop_at(AFTER)
        await other.execute("insert into spending (day, shard, usd) values (%s, 0, 1)", [AFTER.date()])
    with pytest.raises(BudgetSpent):
        await asking
    assert (await stage.row(run.id))["reserved_usd"] == 0


async def test_no_day_is_overspent_by_many_that_reserve_and_settle_at_midnight(
    clocked: tuple[Stage, SqlClock],
    chance: random.Random,
) -> None:
    stage, clock = clocked
    refusals = 0

    async def work(run: Run) -> None:
        nonlocal refusals
        for _ in range(4):
            try:
                await ask(stage, run)
            except (MoneyReserved, BudgetSpent):
                refusals += 1
                continue
            await asyncio.sleep(chance.random() / 50)
            await settle(stage, run, f"0.{chance.randint(10, 40)}")

    tasks = [asyncio.create_task(work(run)) for run in await claimed(stage, 10)]
    await asyncio.wait(tasks, timeout=chance.random() / 5)
    clock.stop_at(AFTER)
    await asyncio.gather(*tasks)
    assert refusals
    assert all(usd <= LIMIT for usd in (await spent(stage)).values())
