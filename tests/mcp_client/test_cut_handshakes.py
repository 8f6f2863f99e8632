import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx2
import pytest
from support.silent_server import SilentServer, silent_server

from chiron_workers.mcp_client.transport import http
from chiron_workers.mcp_client.transport.flood_guard import FloodGuard

REQUESTS = 3
PATIENCE_S = 60.0


pytestmark = pytest.mark.usefixtures("no_collector")


@pytest.fixture
async def silent() -> AsyncIterator[SilentServer]:
    async with asyncio.timeout(PATIENCE_S), silent_server() as server:
        yield server


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_request_that_is_cancelled_leaves_no_socket(silent: SilentServer, scheme: str) -> None:
    transport = http._AnsweringTransport(httpx2.AsyncHTTPTransport(verify=False), FloodGuard())
    async with httpx2.AsyncClient(transport=transport, timeout=PATIENCE_S) as client:
        requests = [
            asyncio.create_task(client.get(f"{scheme}://127.0.0.1:{silent.port}/")) for _ in range(REQUESTS)
        ]
        await silent.come(REQUESTS)
        for request in requests:
            request.cancel()
        for request in requests:
            with contextlib.suppress(asyncio.CancelledError):
                await request
        await silent.empty()
