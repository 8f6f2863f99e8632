"""Requests while Postgres is stopped or stands still: each is answered soon, and the first one after it is back is served."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from benchmarks.patient_postgres import PostgresServer, get_server, pg_ctl
from chiron_api.local_stack.access import api_key
from chiron_workers.db.migrate import migrate
from chiron_workers.settings import Settings

from .conftest import Serving

pytestmark = pytest.mark.acceptance
PATHS = ("/v1/batches", "/subjects", "/v1/subscriptions")
KNOWN_S = 30.0  # until then it is known
SOON_S = 10.0  # two seconds on a machine that has nothing else to do


@pytest.fixture(scope="module")
def server(short_dir: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL that the tests of this file may stop; each leaves it running."""
    server = get_server(short_dir / "pg-away", cleanup_mode="stop")
    try:
        migrate(server.get_uri())
        yield server
    finally:
        for process in _processes(server):
            process.resume()
        server.cleanup()


def _processes(server: PostgresServer) -> list[psutil.Process]:
    pid = server.get_pid()
    postmaster = [psutil.Process(pid)] if pid else []
    return [child for process in postmaster for child in process.children()] + postmaster


def stop(server: PostgresServer) -> Callable[[], None]:
    pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=server.pgdata, user=server.system_user)
    return server.ensure_postgres_running


def pause(server: PostgresServer) -> Callable[[], None]:
    processes = _processes(server)
    for process in reversed(processes):
        process.suspend()

    def go_on() -> None:
        for process in processes:
            process.resume()

    return go_on


async def ask(client: httpx2.AsyncClient, path: str) -> tuple[int, float]:
    began = time.monotonic()
    accept = "application/json" if path.startswith("/v1") else "text/html"
    answer = await client.get(path, headers={"Accept": accept})
    return answer.status_code, time.monotonic() - began


async def until_known(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(KNOWN_S):
        while (await ask(client, PATHS[0]))[0] != 503:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("blow", [stop, pause])
async def test_every_request_is_refused_soon_while_postgres_is_away_and_served_when_it_is_back(
    settings: Settings,
    serving: Serving,
    server: PostgresServer,
    blow: Callable[[PostgresServer], Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("chiron_workers.db.pool.QUIET_S", 0)  # what is under way at the blow waits for it
    own = settings.model_copy(update={"database_url": server.get_uri(), "pool_size": 4})
    async with serving(own) as client:
        client.headers["Authorization"] = f"Bearer {api_key(own)}"
        assert {(await ask(client, path))[0] for path in PATHS} == {200}
        await asyncio.gather(*(ask(client, path) for path in PATHS))  # several connections are idle now
        bring_back = await asyncio.to_thread(blow, server)
        await until_known(client)
        for path in PATHS:
            status, waited_s = await ask(client, path)
            assert (status, waited_s < SOON_S) == (503, True), (path, waited_s)
        answers = await asyncio.gather(*(ask(client, path) for path in PATHS * 10))
        assert {status for status, _ in answers} == {503}
        assert max(waited_s for _, waited_s in answers) < SOON_S
        await asyncio.to_thread(bring_back)
        assert {(await ask(client, path))[0] for path in PATHS} == {200}


async def test_a_restart_between_two_requests_costs_none(
    settings: Settings, serving: Serving, server: PostgresServer
):
    own = settings.model_copy(update={"database_url": server.get_uri(), "pool_size": 4})
    async with serving(own) as client:
        client.headers["Authorization"] = f"Bearer {api_key(own)}"
        await asyncio.gather(*(ask(client, path) for path in PATHS))
        (await asyncio.to_thread(stop, server))()
        assert {(await ask(client, path))[0] for path in PATHS} == {200}
