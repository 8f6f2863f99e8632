"""A pool whose server goes away and comes back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout
from support.run_harness import LEASE, Stage

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.outages import through_outage
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import say


class Gate:
    """A socket before Postgres, which refuses everybody while it is shut."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()
        self.is_shut = False
        self.refusals = 0

    def shut(self) -> None:
        self.is_shut = True
        for writer in self._writers:
            writer.transport.abort()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_shut:
            self.refusals += 1
            writer.transport.abort()
            return
        from_server, to_server = await asyncio.open_unix_connection(self._target)
        self._writers |= {writer, to_server}
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))
        self._writers -= {writer, to_server}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


@asynccontextmanager
async def open_gate(database_url: str, folder: Path) -> AsyncIterator[tuple[Gate, str]]:
    """A gate before the server of a database, and the database's address behind it."""
    with psycopg.connect(database_url) as connection:
        info = connection.info
        gate = Gate(f"{info.host}/.s.PGSQL.{info.port}")
        address = make_conninfo(database_url, host=str(folder), port=info.port)
        path = folder / f".s.PGSQL.{info.port}"
    async with await asyncio.start_unix_server(gate.pass_on, path):
        yield gate, address
        gate.shut()


@pytest.fixture
def socket_folder(short_dir: Path) -> Path:
    folder = short_dir / "gate"
    folder.mkdir(exist_ok=True)
    return folder


async def answer(pool: Pool) -> int:
    async with pool.connection() as connection:
        row = await (await connection.execute("select 7 as n")).fetchone()
    assert row is not None
    return int(row["n"])


async def test_a_pool_goes_on_asking_often_for_a_server_that_stays_away(
    database_url: str, socket_folder: Path
) -> None:
    async with open_gate(database_url, socket_folder) as (gate, address), open_pool(address, size=1) as pool:
        assert await answer(pool) == 7
        began = time.monotonic()
        gate.shut()
        writing = asyncio.create_task(through_outage(lambda: answer(pool)))
        while gate.refusals < 6:
            await asyncio.sleep(0.01)
        # psycopg's own pool asks for the sixth time after 1 + 2 + 4 + 8 + 16 s.
        assert time.monotonic() - began < 20
        gate.is_shut = False
        assert await writing == 7


async def test_the_pool_of_a_server_waits_until_postgres_listens(
    database_url: str, socket_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def first_answer(address: str) -> int:
        async with open_pool(address, size=1, is_patient=True) as pool:
            return await answer(pool)

    async with asyncio.timeout(60):
        early = asyncio.create_task(first_answer(make_conninfo(database_url, host=str(socket_folder))))
        while not any("error connecting" in text for text in caplog.messages):
            await asyncio.sleep(0.01)
        async with open_gate(database_url, socket_folder):
            assert await early == 7


async def test_a_pool_asks_again_where_one_of_several_hosts_is_just_starting(
    database_url: str, socket_folder: Path
) -> None:
    async def first_answer(address: str) -> int:
        async with open_pool(address, size=1) as pool:
            return await answer(pool)

    async with asyncio.timeout(60), open_gate(database_url, socket_folder) as (gate, address):
        gate.is_shut = True
        early = asyncio.create_task(first_answer(make_conninfo(address, host=f"/nowhere,{socket_folder}")))
        while not gate.refusals:
            await asyncio.sleep(0.01)
        gate.is_shut = False
        assert await early == 7


async def test_a_pool_serves_those_who_wait_however_long_the_server_was_away(
    database_url: str, socket_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_gate(database_url, socket_folder) as (gate, address), open_pool(address, size=1) as pool:
        gate.shut()
        with pytest.raises(psycopg.OperationalError):
            await answer(pool)
        waiting = asyncio.create_task(answer(pool))
        async with asyncio.timeout(60):
            while gate.refusals < 2:
                await asyncio.sleep(0.01)
            monkeypatch.setattr("psycopg_pool.pool_async.monotonic", lambda: time.monotonic() + 3_600)
            refusals = gate.refusals
            while gate.refusals < refusals + 2 and not waiting.done():
                await asyncio.sleep(0.01)
            gate.is_shut = False
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
    database_url: str, socket_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_gate(database_url, socket_folder) as (gate, address),
        open_pool(address, size=1, away_s=0.2) as pool,
    ):
        monkeypatch.setattr(pool, "timeout", 3_600)
        assert await answer(pool) == 7
        gate.shut()
        async with asyncio.timeout(60):
            for _ in range(3):  # the first waits before anybody knows
                with pytest.raises(psycopg.OperationalError):
                    await answer(pool)
            gate.is_shut = False
            while True:
                with contextlib.suppress(PoolTimeout):  # it asks again within half a second
                    assert await answer(pool) == 7
                    return


async def test_a_connection_that_broke_while_it_was_idle_costs_nobody_a_request(
    database_url: str, socket_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.db.pool.QUIET_S", 0)
    async with (
        open_gate(database_url, socket_folder) as (gate, address),
        open_pool(address, size=3, away_s=30) as pool,
    ):
        async with pool.connection(), pool.connection(), pool.connection():
            pass
        gate.shut()
        gate.is_shut = False
        assert [await answer(pool) for _ in range(3)] == [7, 7, 7]
