"""The budget of a batch binds workers of versions that count elsewhere: here those of schema 42, by their own statements."""

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from support.run_harness import LEASE, Stage, open_stage

from chiron_workers.billing.budgets import Budget
from chiron_workers.billing.reservations import reserve
from chiron_workers.db.queries import load
from chiron_workers.runs.entries import MaxCost, Reply, Usage
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run

RELEASED = Path(__file__).parents[1] / "db" / "released"
OLD = load(str(RELEASED / "schema_0013" / "leases.py")) | load(
    str(RELEASED / "schema_0042" / "reservations.py")
)
CALL = MaxCost(Decimal("0.40"), 1_000)
BUDGET = Budget(Decimal(1))


class OldWorker:
    """A worker that counts in the row of the batch, and knows nothing of batch_sums."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection

    async def do(self, statement: str, **args: Any) -> list[DictRow]:
        cursor = await self._connection.execute(OLD[statement], args)
        return await cursor.fetchall() if cursor.description else []

    async def acquire(self, run_id: UUID) -> None:
        dispatch = "update runs set dispatched_at = now() where id = %s"
        await self._connection.execute(dispatch, [run_id])
        assert len(await self.do("acquire", run_id=run_id, worker="old", lease_for=LEASE)) == 1

    async def add(self, run_id: UUID, usd: str, *, call: int = 1) -> None:
        """Reserve, as it does once it believes that there is room."""
        await self.do("add", run_id=run_id, usd=Decimal(usd), tokens=1_000, call=call, lease_for=LEASE)

    async def write_off(self, run_id: UUID, usd: str, *, call: int = 1) -> None:
        of_call = {"run_id": run_id, "lease": 1, "call": call, "shard": 0}
        assert await self.do("write_off", usd=Decimal(usd), tokens=1_000, **of_call)

    async def spent(self, batch_id: UUID) -> Decimal:
        """What it takes to be spent of the batch."""
        [row] = await self.do("lock_batch", batch_id=batch_id)
        spent: Decimal = row["spent_usd"]
        return spent


@pytest.fixture
async def stage(pool, settings, embedder):
    async with open_stage(pool, settings, embedder) as stage:
        yield stage


@pytest.fixture
async def old(stage: Stage) -> AsyncIterator[OldWorker]:
    async with stage.pool.connection() as connection:
        yield OldWorker(connection)


async def spend(stage: Stage, run: Run, usd: str) -> None:
    """Have a worker of today make a call."""
    n = (await stage.row(run.id))["entries"] + 1
    await reserve(stage.pool, run, replace(CALL, call=n), daily_usd=None, lease_for=LEASE)
    reply = Reply((), "end_turn", Usage(100, 10), Decimal(usd), reserved=replace(CALL, call=n))
    await Journal(stage.pool, stage.published.append, lease_for=LEASE).append(run, reply, n=n)


async def counted(stage: Stage, batch_id: UUID) -> Decimal:
    [row] = await stage.rows(
        "select spent_usd + unconfirmed_usd as usd from batch_costs where batch_id = %s", batch_id
    )
    usd: Decimal = row["usd"]
    return usd


async def test_an_old_worker_sees_all_that_was_spent_once_it_acquires_a_run(
    stage: Stage, old: OldWorker
) -> None:
    of_new, of_old = await stage.submit("tides", "moons", budget=BUDGET)
    run = await stage.claim(of_new)
    await spend(stage, run, "0.30")
    assert await old.spent(run.batch_id) == 0
    await old.acquire(of_old)
    assert await old.spent(run.batch_id) == await counted(stage, run.batch_id) == Decimal("0.30")


async def test_an_old_worker_sees_all_that_was_spent_whenever_it_counts(stage: Stage, old: OldWorker) -> None:
    of_new, of_old = await stage.submit("tides", "moons", budget=BUDGET)
    run = await stage.claim(of_new)
    await old.acquire(of_old)
    await spend(stage, run, "0.30")
    await old.add(of_old, "0.20")
    await old.write_off(of_old, "0.20")
    assert await old.spent(run.batch_id) == await counted(stage, run.batch_id) == Decimal("0.50")
    await spend(stage, run, "0.10")
    assert await counted(stage, run.batch_id) == Decimal("0.60")


async def test_the_database_refuses_what_an_old_worker_reserves_beyond_the_budget(
    stage: Stage, old: OldWorker
) -> None:
    of_new, of_old = await stage.submit("tides", "moons", budget=BUDGET)
    run = await stage.claim(of_new)
    await old.acquire(of_old)
    for _ in range(2):
        await spend(stage, run, "0.35")
    assert await old.spent(run.batch_id) == 0
    await old.add(of_old, "0.30")
    with pytest.raises(psycopg.errors.RaiseException, match=r"no room for this call: 0\.70.* with it 0\.31"):
        await old.add(of_old, "0.01", call=2)
    assert (await stage.row(of_old))["reserved_usd"] == Decimal("0.30")


async def test_the_database_counts_what_runs_of_both_versions_have_reserved(
    stage: Stage, old: OldWorker
) -> None:
    of_new, of_old = await stage.submit("tides", "moons", budget=Budget(tokens=2_500))
    run = await stage.claim(of_new)
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    await old.acquire(of_old)
    await old.add(of_old, "0.40")
    with pytest.raises(psycopg.errors.RaiseException, match="3000 tokens are reserved"):
        await old.add(of_old, "0.40", call=2)


async def test_a_result_of_an_old_worker_is_kept_where_the_next_call_has_no_room(
    stage: Stage, old: OldWorker
) -> None:
    (run_id,) = await stage.submit("tides", budget=BUDGET)
    await old.acquire(run_id)
    # The result before a call reserves for it, where no budget of the batch was seen to bind: one may have come just now.
    result = (
        "update runs set steps = steps + 1, reserved_usd = 2, reserved_calls = 1, calls_in_flight = '{7}'"
        " where id = %s returning 1"
    )
    assert await stage.rows(result, run_id)
    row = await stage.row(run_id)
    assert (row["steps"], row["reserved_usd"], row["reserved_calls"], row["calls_in_flight"]) == (1, 0, 0, [])


async def test_a_run_is_checked_only_while_an_old_worker_has_it(stage: Stage, old: OldWorker) -> None:
    (run_id,) = await stage.submit("tides", budget=BUDGET)
    await old.acquire(run_id)
    assert (await stage.row(run_id))["has_old_holder"]
    await stage.rows(
        "update runs set state = 'queued', leased_until = null where id = %s returning 1", run_id
    )
    await stage.claim(run_id)
    assert not (await stage.row(run_id))["has_old_holder"]


async def test_batches_without_a_budget_are_left_alone(stage: Stage, old: OldWorker) -> None:
    of_new, of_old = await stage.submit("tides", "moons")
    run = await stage.claim(of_new)
    await spend(stage, run, "0.30")
    await old.acquire(of_old)
    await old.add(of_old, "100.00")
    assert await stage.rows("select 1 from batch_sums where spent_usd > 0")
