import asyncio
import resource
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support import forked_python
from support.worker_processes import environment

from chiron_api.http import connections
from chiron_workers.settings import Settings

HALF = b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_BODY = (
    b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
FILES = 1_024  # open at once, the limit of many systems
AT_ONCE = (
    50  # Where more wait to be accepted than the backlog holds, the system tries again only after seconds.
)
ANSWER_S = 60  # of a busy machine; a server without room never answers


@pytest.fixture
async def client(
    keyless: Settings, serving: Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]]
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server that asks for no key, and so waits for the whole of each request."""
    async with serving(keyless) as opened:
        yield opened


@asynccontextmanager
async def serving_with_few_files(settings: Settings, folder: Path) -> AsyncIterator[int]:
    """The port of the command, in a process that may open as many files as most may and no more."""
    command = [sys.executable, "-m", "chiron_api", "api", "--port", "0"]
    env = environment(settings, CHIRON_API_WITHOUT_KEY="true")
    with forked_python.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            # It asks for its limit with its first connection.
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            yield int(process.stdout.readline().rsplit(":", 1)[1])
        finally:
            process.terminate()


async def half_sent(port: int, words: bytes) -> socket.socket:
    """A connection on which a request was begun."""
    connection = socket.socket()
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", port))
    await loop.sock_sendall(connection, words)
    return connection


async def is_closed(connection: socket.socket) -> bool:
    """Whether the server hangs up, once it does."""
    try:
        return await asyncio.get_running_loop().sock_recv(connection, 100) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("words", [HALF, HALF_BODY, b""], ids=["headers", "body", "nothing"])
async def test_more_than_a_thousand_half_sent_requests_silence_nobody(
    settings: Settings, tmp_path: Path, words: bytes
):
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving_with_few_files(settings, tmp_path))
        url = f"http://127.0.0.1:{port}"
        fresh = httpx2.Limits(max_keepalive_connections=0)  # An idle connection would be one more of those.
        client = await stack.enter_async_context(
            httpx2.AsyncClient(base_url=url, limits=fresh, timeout=ANSWER_S, trust_env=False)
        )
        for number in range(FILES + 200):
            if number % AT_ONCE == 0:
                assert (await client.get("/healthz")).status_code == 200
            stack.enter_context(await half_sent(port, words))
        assert (await client.get("/readyz")).json() == {"status": "ready"}


async def test_a_request_that_does_not_come_is_not_awaited_for_ever(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.2)
    with await half_sent(client.base_url.port or 0, HALF) as connection:
        async with asyncio.timeout(ANSWER_S):
            assert await is_closed(connection)


async def test_the_oldest_half_sent_request_of_an_address_gives_way(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "UNFINISHED_MAX", 3)
    opened = [await half_sent(client.base_url.port or 0, HALF) for _ in range(3)]
    assert (await client.get("/healthz")).status_code == 200
    async with asyncio.timeout(ANSWER_S):
        assert await is_closed(opened[0])
    for connection in opened:
        connection.close()


async def test_no_part_of_an_answer_waits_until_the_one_before_is_acknowledged(
    keyless: Settings,
    serving: Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]],
    monkeypatch: pytest.MonkeyPatch,
):
    options = []

    class RecordedProtocol(connections.BoundedProtocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            opened = transport.get_extra_info("socket")
            options.append(opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(connections, "BoundedProtocol", RecordedProtocol)
    async with serving(keyless) as client:
        await client.get("/healthz")
    assert options
    assert all(options)


async def test_a_stream_of_events_is_no_half_sent_request(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "UNFINISHED_MAX", 1)
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.2)
    batch = (await client.post("/v1/batches", json={"topics": ["Closures"], "subject": "Python"})).json()
    async with client.stream("GET", f"/v1/batches/{batch['batch_id']}/events") as reader:
        lines = reader.aiter_lines()
        assert (await anext(lines)).startswith("id: ")
        for _ in range(3):
            assert (await client.get("/healthz")).status_code == 200
        assert (await client.post(f"/v1/batches/{batch['batch_id']}/cancel")).status_code == 202
        async for line in lines:
            if line == "event: batch.completed":
                return
    raise AssertionError("the stream was cut")


async def test_a_full_server_takes_a_new_connection_for_an_unfinished_one():
    room = connections.Room(open_max=4)
    assert all(room.admit(address) for address in ("::1", "::1", "::2", "::3"))
    assert not room.admit("::4")  # no request is unfinished
    assert not room.admit("::1")  # has its half
