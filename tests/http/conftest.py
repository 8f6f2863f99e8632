"""The HTTP API as people meet it: a real server on a free port."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
import pytest
import uvicorn

from chiron_api.http.app import build_app
from chiron_workers.settings import Settings

Serving = Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]]


@pytest.fixture
def serving() -> Serving:
    """`async with serving(settings) as client`: a client of a server that runs with these settings."""
    return _serving


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    async with _serving(settings) as opened:
        yield opened


@asynccontextmanager
async def _serving(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    server = uvicorn.Server(uvicorn.Config(build_app(settings), log_config=None, timeout_graceful_shutdown=3))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():  # uvicorn offers no event
            await asyncio.sleep(0.01)
        if task.done():
            await task
        try:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            await task
