"""A pool keeps all its connections, whenever a task that uses it is cancelled, once or twice."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.runs.session import Caller, Session

SIZE = 2
STEPS = 16  # of the event loop: more than any use below takes until it waits for Postgres
STEPS_BETWEEN = 4  # two cancels
PATIENCE_S = 30.0


async def read(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("select 1")


async def wait_in_postgres(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("select pg_sleep(60)")


async def write_in_transaction(pool: Pool) -> None:
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("create temporary table if not exists numbers (n integer)")
        await connection.execute("insert into numbers values (1)")


async def write_in_session(pool: Pool) -> None:
    async with Session(pool, Caller()) as session:
        await session.write("insert into subjects (id, title) values (gen_random_uuid()::text, 'tides')")  # type: ignore[arg-type]


USES = (read, wait_in_postgres, write_in_transaction, write_in_session)


@pytest.fixture(params=[None, 1.5], ids=["worker", "server"])
async def pool(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Pool]:
    async with open_pool(database_url, size=SIZE, away_s=request.param) as opened:
        yield opened


async def step(steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)


async def cancel_twice(task: "asyncio.Task[None]", *, after: int, between: int) -> None:
    await step(after)
    task.cancel()
    await step(between)
    task.cancel()


async def check_all_are_back(pool: Pool) -> None:
    """Fails unless all connections of the pool can be had at once, and each of them works."""
    async with asyncio.timeout(PATIENCE_S):
        connections = [await pool.getconn() for _ in range(SIZE)]
        for connection in connections:
            await connection.execute("select 1")
            await pool.putconn(connection)
    assert pool.get_stats()["pool_size"] == SIZE


@pytest.mark.parametrize("use", USES)
async def test_a_use_that_is_cancelled_twice_leaves_all_connections_with_the_pool(
    pool: Pool, use: Callable[[Pool], Awaitable[None]]
) -> None:
    for after in range(STEPS):
        for between in range(STEPS_BETWEEN):
            task = asyncio.ensure_future(use(pool))
            await cancel_twice(task, after=after, between=between)
            await asyncio.wait({task}, timeout=PATIENCE_S)
            assert task.done(), f"cancelled after {after} and {between} steps"
    await check_all_are_back(pool)


async def test_waiting_tasks_that_are_cancelled_twice_keep_no_connection_and_block_no_other(
    pool: Pool,
) -> None:
    for after in range(STEPS):
        for between in range(STEPS_BETWEEN):
            connections = [await pool.getconn() for _ in range(SIZE)]
            tasks = [asyncio.create_task(read(pool)) for _ in range(SIZE + 1)]
            while pool.get_stats().get("requests_waiting", 0) < len(tasks):
                await asyncio.sleep(0)
            cancels = [
                asyncio.create_task(cancel_twice(task, after=after, between=between)) for task in tasks
            ]
            await step(STEPS_BETWEEN)
            # They come while those who wait are cancelled.
            async with asyncio.timeout(PATIENCE_S):
                for connection in connections:
                    await pool.putconn(connection)
            await asyncio.wait({*tasks, *cancels}, timeout=PATIENCE_S)
            assert all(task.done() for task in tasks), f"cancelled after {after} and {between} steps"
    await check_all_are_back(pool)


async def test_a_wait_that_ends_as_a_connection_comes_gives_it_back(pool: Pool) -> None:
    for after in range(STEPS):
        connections = [await pool.getconn() for _ in range(SIZE)]
        waiting = asyncio.create_task(pool.getconn(timeout=0.001))
        while not pool.get_stats().get("requests_waiting"):
            await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        await step(after)
        for connection in connections:
            await pool.putconn(connection)
        with contextlib.suppress(PoolTimeout):
            await pool.putconn(await waiting)
    await check_all_are_back(pool)
