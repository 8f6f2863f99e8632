"""A reservation may be cancelled at any moment: what others then write on its connection is committed all the same."""

import asyncio
import contextlib
from decimal import Decimal

import psycopg
from support.run_harness import LEASE, Stage

from chiron_workers.billing.budgets import Budget
from chiron_workers.billing.reservations import reserve
from chiron_workers.db.connect import Pool, fetch_all, open_pool
from chiron_workers.ids import new_id
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.leases import SQL as LEASES
from chiron_workers.runs.leases import Run

MOMENTS = 120  # turns of the event loop; a reservation takes fewer


async def seen_elsewhere(pool: Pool, run: Run, other: psycopg.AsyncConnection[tuple[int]]) -> bool:
    """Whether a message that is written through the pool is there for another session at once."""
    args = {"run_id": run.id, "text": "x", "message_id": new_id(), "more_turns": 1}
    assert await fetch_all(pool, LEASES["say"], args)
    cursor = await other.execute("select count(*) from inbox where id = %s", [args["message_id"]])
    return await cursor.fetchone() == (1,)


async def test_what_is_written_after_a_reservation_was_cancelled_is_committed(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides", budget=Budget(Decimal(100)))
    run = await stage.claim(run_id)
    database_url = stage.settings.database_url
    async with (
        open_pool(database_url, size=1) as pool,
        await psycopg.AsyncConnection.connect(database_url, autocommit=True) as other,
    ):
        for moment in range(MOMENTS):
            call = MaxCost(Decimal("0.01"), 10, call=moment + 1)
            task = asyncio.create_task(reserve(pool, run, call, daily_usd=None, lease_for=LEASE))
            for _ in range(moment):
                await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert await seen_elsewhere(pool, run, other), f"cancelled after {moment} turns"


async def test_a_connection_that_was_left_in_the_midst_of_a_pipeline_is_not_handed_out(
    database_url: str,
) -> None:
    async with open_pool(database_url, size=1) as pool:
        async with pool.connection() as connection:
            pid = connection.info.backend_pid
            await connection.pipeline().__aenter__()
        async with pool.connection() as connection:
            assert connection.info.backend_pid != pid
