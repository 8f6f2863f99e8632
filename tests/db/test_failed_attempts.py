"""Attempts to connect that fail: none keeps its socket, which a stalled server would take for a client when it goes on.

No garbage is collected meanwhile, as in a worker, which seldom looks for some.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from support.proxy import Partition, open_proxy, socket_of
from support.silent_server import SilentServer, silent_server

from chiron_workers.db.connect import connect
from chiron_workers.db.connections import SteadyConnection
from chiron_workers.db.pool import SteadyPool
from chiron_workers.errors import ServiceUnavailable

ATTEMPT_S = 0.3  # psycopg itself waits for 2 s at least
ATTEMPTS = 3
PATIENCE_S = 60.0


pytestmark = pytest.mark.usefixtures("no_collector")


@pytest.fixture(autouse=True)
def short_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("connection", "connection_async"):
        monkeypatch.setattr(f"psycopg.{name}.timeout_from_conninfo", lambda _: ATTEMPT_S)


@pytest.fixture
async def silent() -> AsyncIterator[SilentServer]:
    async with asyncio.timeout(PATIENCE_S), silent_server() as server:
        yield server


def url_of(silent: SilentServer) -> str:
    return f"postgresql://nobody@127.0.0.1:{silent.port}/nothing?sslmode=disable"


async def test_an_attempt_that_takes_too_long_leaves_no_socket(silent: SilentServer) -> None:
    attempts = (SteadyConnection.connect(url_of(silent)) for _ in range(ATTEMPTS))
    errors = await asyncio.gather(*attempts, return_exceptions=True)
    assert [type(error) for error in errors] == [psycopg.errors.ConnectionTimeout] * ATTEMPTS
    await silent.empty()


async def test_an_attempt_that_is_cancelled_leaves_no_socket(silent: SilentServer) -> None:
    attempts = [asyncio.create_task(SteadyConnection.connect(url_of(silent))) for _ in range(ATTEMPTS)]
    await silent.come(ATTEMPTS)
    for attempt in attempts:
        attempt.cancel()
    errors = await asyncio.gather(*attempts, return_exceptions=True)
    assert [type(error) for error in errors] == [asyncio.CancelledError] * ATTEMPTS
    await silent.empty()


async def test_an_attempt_of_a_thread_that_takes_too_long_leaves_no_socket(silent: SilentServer) -> None:
    for _ in range(ATTEMPTS):
        with pytest.raises(ServiceUnavailable, match="timeout expired"):
            await asyncio.to_thread(connect, url_of(silent))
    assert len(silent.open_at_arrivals) == ATTEMPTS
    await silent.empty()


async def test_a_connection_to_the_second_host_leaves_no_socket_to_the_first(
    silent: SilentServer, database_url: str
) -> None:
    socket_folder = conninfo_to_dict(database_url)["host"]
    url = make_conninfo(database_url, host=f"127.0.0.1,{socket_folder}", port=f"{silent.port},")
    async with await SteadyConnection.connect(url) as connection:
        await silent.empty()
        assert (await connection.execute("select 7")).rowcount == 1
    assert len(silent.open_at_arrivals) == 1


async def test_a_query_that_cannot_be_cancelled_leaves_no_socket(database_url: str) -> None:
    async with open_proxy(socket_of(database_url)) as proxy:
        url = proxy.postgres_url(database_url, sslmode="disable")
        sockets = open_sockets()
        async with await SteadyConnection.connect(url, autocommit=True) as connection:
            query = asyncio.create_task(connection.execute("select pg_sleep(600)"))
            while connection.pgconn.transaction_status != TransactionStatus.ACTIVE:
                await asyncio.sleep(0.01)
            await proxy.cut(Partition.SILENT)
            with pytest.raises(psycopg.errors.CancellationTimeout) as caught:
                await connection.cancel_safe(timeout=ATTEMPT_S)
            await proxy.cut(Partition.REFUSED)
            with pytest.raises(psycopg.OperationalError):
                await query
        async with asyncio.timeout(PATIENCE_S):
            while open_sockets() - sockets:
                await asyncio.sleep(0.01)
        assert caught.value  # It holds the frames in which the attempt failed.


def open_sockets() -> set[int]:
    descriptors = set()
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # The listing's own is closed by now.
            if path.is_socket():
                descriptors.add(int(path.name))
    return descriptors


async def test_a_pool_asks_a_silent_server_once_at_a_time_and_leaves_no_socket(silent: SilentServer) -> None:
    pool = SteadyPool(
        url_of(silent), away_s=None, connection_class=SteadyConnection, min_size=3, max_size=3, open=False
    )
    async with pool:
        await silent.come(3 + ATTEMPTS)
        # The end of an attempt may arrive after the beginning of the next one.
        assert max(silent.open_at_arrivals[3:]) <= 2
        assert silent.open <= 2
    await silent.empty()


async def test_a_pool_that_is_closed_gives_up_its_attempts_at_once(
    silent: SilentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psycopg.connection_async.timeout_from_conninfo", lambda _: 2 * PATIENCE_S)
    pool = SteadyPool(
        url_of(silent), away_s=None, connection_class=SteadyConnection, min_size=1, max_size=1, open=False
    )
    async with pool:
        await silent.come(1)
    await silent.empty()
