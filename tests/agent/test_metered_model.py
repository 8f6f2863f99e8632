"""What becomes of reserved money when Postgres takes a statement and its answer is lost on the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest
from support.proxy import Proxy, open_proxy, socket_of
from support.run_harness import LEASE, Stage

from chiron_workers.agent import metered_model
from chiron_workers.agent.metered_model import Reservation
from chiron_workers.batches.submit import NO_BUDGET
from chiron_workers.billing.budgets import Budget
from chiron_workers.billing.reservations import reserve
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.model.failures import Failure
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.worker.execution import hand_back

CALL = MaxCost(Decimal("0.40"), 1_000)
FULL = Failure("The model is full.")


@asynccontextmanager
async def open_lossy_pool(stage: Stage, *, size: int) -> AsyncIterator[tuple[Proxy, Pool]]:
    """A pool whose proxy can drop answers of Postgres, and the connection with them."""
    url = stage.settings.database_url
    async with (
        open_proxy(socket_of(url)) as proxy,
        open_pool(proxy.postgres_url(url, sslmode="disable"), size=size) as pool,
    ):
        yield proxy, pool


@pytest.mark.parametrize("budget", [NO_BUDGET, Budget(Decimal(5))], ids=["of the run alone", "of the batch"])
async def test_a_call_is_reserved_once_whichever_answer_of_postgres_is_lost(
    stage: Stage, budget: Budget
) -> None:
    async with open_lossy_pool(stage, size=1) as (proxy, pool):
        (run_id,) = await stage.submit("tides", budget=budget)
        run = await stage.claim(run_id)
        is_lost, answers = True, 0
        while is_lost:  # ends: a reservation takes a few answers
            reservation = Reservation(run, pool, CALL, None, LEASE)
            proxy.answers_to_pass, proxy.answers_to_drop = answers, 1
            await reservation.reserve()
            is_lost = not proxy.answers_to_drop
            proxy.answers_to_drop = 0
            row = await stage.row(run_id)
            assert (row["reserved_usd"], row["reserved_calls"]) == (CALL.usd, 1), answers
            await reservation.settle_failure(FULL)
            row = await stage.row(run_id)
            assert (row["reserved_usd"], row["reserved_calls"], row["calls_in_flight"]) == (0, 0, [])
            answers += 1
    assert answers > (1 if budget == NO_BUDGET else 2)


async def test_each_of_two_calls_in_flight_of_a_run_has_its_own_money(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    first, second = (Reservation(run, stage.pool, CALL, None, LEASE) for _ in range(2))
    await first.reserve()
    await second.reserve()
    row = await stage.row(run_id)
    assert (row["reserved_usd"], row["reserved_calls"]) == (2 * CALL.usd, 2)
    await second.settle_failure(FULL)
    row = await stage.row(run_id)
    assert (row["reserved_usd"], row["calls_in_flight"]) == (CALL.usd, [first.max_cost.call])


@pytest.mark.parametrize("maybe_billed", [False, True], ids=["given back", "lost"])
async def test_a_failed_try_is_accounted_for_once_also_when_nobody_hears_that_it_was(
    stage: Stage, maybe_billed: bool
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)  # of another call that is in flight
    async with open_lossy_pool(stage, size=2) as (proxy, pool):
        reservation = Reservation(run, pool, CALL, None, LEASE)
        await reservation.reserve()
        proxy.answers_to_drop = 1
        await reservation.settle_failure(Failure("The model is full.", maybe_billed=maybe_billed))
        assert not proxy.answers_to_drop
        await reservation.settle_cancelled()
    row = await stage.row(run_id)
    assert (row["reserved_usd"], row["reserved_calls"]) == (CALL.usd, 1)
    assert await Journal(stage.pool, stage.published.append, lease_for=LEASE).release(
        run, hand_back("the worker stops")
    )
    row = await stage.row(run_id)
    assert (row["unconfirmed_usd"], row["unconfirmed_calls"]) == (
        (1 + maybe_billed) * CALL.usd,
        1 + maybe_billed,
    )


async def cancelled(stage: Stage, run: Run, *, at: str) -> None:
    """Cancel `reserve` or `settle_failure` of a call as its statement waits for the run's row."""
    reservation = Reservation(run, stage.pool, CALL, None, LEASE)
    if at == "settle_failure":
        await reservation.reserve()
    steps = {"reserve": reservation.reserve, "settle_failure": lambda: reservation.settle_failure(FULL)}
    async with stage.pool.connection() as connection, connection.transaction():
        await connection.execute("select 1 from runs for update")
        task = asyncio.create_task(steps[at]())
        async with asyncio.timeout(60):
            while not await stage.rows("select 1 from pg_stat_activity where wait_event_type = 'Lock'"):
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    await reservation.settle_cancelled()


@pytest.mark.parametrize("at", ["reserve", "settle_failure"])
async def test_a_call_that_was_never_made_keeps_no_money_though_it_is_cancelled(
    stage: Stage, at: str
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await cancelled(stage, run, at=at)
    row = await stage.row(run_id)
    assert (row["reserved_usd"], row["reserved_calls"], row["unconfirmed_calls"]) == (0, 0, 0)


async def test_a_reservation_whose_answer_is_lost_in_a_cancel_is_released(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    reservation = Reservation(run, stage.pool, CALL, None, LEASE)

    async def reserve_and_be_cancelled(*args: Any, **kwargs: Any) -> None:
        await reserve(*args, **kwargs)
        raise asyncio.CancelledError

    monkeypatch.setattr(metered_model, "reserve", reserve_and_be_cancelled)
    with pytest.raises(asyncio.CancelledError):
        await reservation.reserve()
    assert (await stage.row(run_id))["reserved_calls"] == 1
    await reservation.settle_cancelled()
    row = await stage.row(run_id)
    assert (row["reserved_calls"], row["unconfirmed_calls"], row["calls_in_flight"]) == (0, 0, [])
