"""A pool whose server goes away and comes back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout
from support.proxy import Partition, Proxy, open_proxy, socket_of
from support.run_harness import LEASE, Stage

from chiron_api.local_stack.ports import free_port
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.outages import through_outage
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import say


@asynccontextmanager
async def open_postgres_proxy(database_url: str, *, port: int = 0) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy before the server of a database, and the database's URL through it."""
    async with open_proxy(socket_of(database_url), port=port) as proxy:
        yield proxy, proxy.postgres_url(database_url, sslmode="disable")


async def answer(pool: Pool) -> int:
    async with pool.connection() as connection:
        row = await (await connection.execute("select 7 as n")).fetchone()
    assert row is not None
    return int(row["n"])


async def test_a_pool_goes_on_asking_often_for_a_server_that_stays_away(database_url: str) -> None:
    async with open_postgres_proxy(database_url) as (proxy, url), open_pool(url, size=1) as pool:
        assert await answer(pool) == 7
        began = time.monotonic()
        await proxy.cut(Partition.REFUSED)
        connections = proxy.connections
        writing = asyncio.create_task(through_outage(lambda: answer(pool)))
        while proxy.connections < connections + 6:
            await asyncio.sleep(0.01)
        # psycopg's own pool asks for the sixth time after 1 + 2 + 4 + 8 + 16 s.
        assert time.monotonic() - began < 20
        await proxy.heal()
        assert await writing == 7


async def test_the_pool_of_a_server_waits_until_postgres_listens(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def first_answer(url: str) -> int:
        async with open_pool(url, size=1, is_patient=True) as pool:
            return await answer(pool)

    async with asyncio.timeout(60):
        port = free_port()
        url = make_conninfo(database_url, host="127.0.0.1", port=port, sslmode="disable")
        early = asyncio.create_task(first_answer(url))
        while not any("error connecting" in text for text in caplog.messages):
            await asyncio.sleep(0.01)
        async with open_postgres_proxy(database_url, port=port):
            assert await early == 7


async def test_a_pool_asks_again_where_one_of_several_hosts_is_just_starting(database_url: str) -> None:
    async def first_answer(url: str) -> int:
        async with open_pool(url, size=1) as pool:
            return await answer(pool)

    async with asyncio.timeout(60), open_postgres_proxy(database_url) as (proxy, url):
        await proxy.cut(Partition.REFUSED)
        early = asyncio.create_task(first_answer(make_conninfo(url, host="/nowhere,127.0.0.1")))
        while not proxy.connections:
            await asyncio.sleep(0.01)
        await proxy.heal()
        assert await early == 7


async def test_a_pool_serves_those_who_wait_however_long_the_server_was_away(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_postgres_proxy(database_url) as (proxy, url), open_pool(url, size=1) as pool:
        await proxy.cut(Partition.REFUSED)
        connections = proxy.connections
        with pytest.raises(psycopg.OperationalError):
            await answer(pool)
        waiting = asyncio.create_task(answer(pool))
        async with asyncio.timeout(60):
            while proxy.connections < connections + 2:
                await asyncio.sleep(0.01)
            monkeypatch.setattr("psycopg_pool.pool_async.monotonic", lambda: time.monotonic() + 3_600)
            connections = proxy.connections
            while proxy.connections < connections + 2 and not waiting.done():
                await asyncio.sleep(0.01)
            await proxy.heal()
            assert await waiting == 7


CUT_WAITERS = """
select pg_terminate_backend(pid)
  from pg_stat_activity
 where datname = current_database()
   and wait_event_type = 'Lock'
"""


async def test_messages_are_taken_although_the_connection_is_cut_meanwhile(stage: Stage, pool: Pool) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await say(pool, run_id, "Look at the moon as well.")
    journal = Journal(pool, lambda _: None, lease_for=LEASE)
    async with asyncio.timeout(60):
        async with pool.connection() as holder, holder.transaction():
            await holder.execute("select 1 from runs where id = %s for update", [run_id])
            taking = asyncio.create_task(journal.take_messages(run, n=1))
            while not await stage.rows(CUT_WAITERS):
                await asyncio.sleep(0.01)
        taken = await taking
    assert taken is not None
    assert taken[0].text == "Look at the moon as well."


async def test_whoever_waits_while_the_server_is_away_is_told_so_soon_and_served_once_it_is_back(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_postgres_proxy(database_url) as (proxy, url),
        open_pool(url, size=1, away_s=0.2) as pool,
    ):
        monkeypatch.setattr(pool, "timeout", 3_600)
        assert await answer(pool) == 7
        await proxy.cut(Partition.REFUSED)
        async with asyncio.timeout(60):
            for _ in range(3):  # the first waits before anybody knows
                with pytest.raises(psycopg.OperationalError):
                    await answer(pool)
            await proxy.heal()
            while True:
                with contextlib.suppress(PoolTimeout):  # it asks again within half a second
                    assert await answer(pool) == 7
                    return


async def test_a_connection_that_broke_while_it_was_idle_costs_nobody_a_request(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.db.pool.QUIET_S", 0)
    async with (
        open_postgres_proxy(database_url) as (proxy, url),
        open_pool(url, size=3, away_s=30) as pool,
    ):
        async with pool.connection(), pool.connection(), pool.connection():
            pass
        proxy.reset()
        assert [await answer(pool) for _ in range(3)] == [7, 7, 7]
