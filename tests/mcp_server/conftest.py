"""`chiron mcp` as clients meet it: a real process, over its standard streams or over HTTP."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from workers import environment

from chiron_workers.settings import Settings

COMMAND = ["-m", "chiron_api", "mcp"]
KEY = "a key of this test"

Talking = Callable[..., AbstractAsyncContextManager[Client]]
Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture
def talking(settings: Settings) -> Talking:
    """`async with talking(mode=...) as client`: a client of a server of its own, over standard streams."""

    def talk(mode: str = "auto", **env: str) -> AbstractAsyncContextManager[Client]:
        command = StdioServerParameters(
            command=sys.executable, args=COMMAND, env=environment(settings, **env), cwd=settings.home
        )
        return Client(command, mode=mode, read_timeout_seconds=60)

    return talk


@pytest.fixture
def serving(settings: Settings) -> Serving:
    """`with serving(**env) as url`: a server over HTTP that runs until the end of the block."""

    @contextmanager
    def serve(*options: str, **env: str) -> Iterator[str]:
        with (
            (settings.home / "mcp.log").open("wb") as log,
            subprocess.Popen(
                [sys.executable, *COMMAND, "--http", "0", *options],
                env=environment(settings, **env),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=settings.home,
            ) as process,
        ):
            yield process.stdout.readline().rsplit(maxsplit=1)[-1]
            process.terminate()

    return serve


@asynccontextmanager
async def over_http(url: str, *, mode: str = "auto", key: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client
