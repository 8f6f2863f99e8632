"""`chiron mcp` as clients meet it: a process over its standard streams or over HTTP; `test_transports` starts one afresh."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from support import forked_python
from support.forked_children import forked_children
from support.worker_processes import environment

from chiron_api.services import Services
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.pubsub.streams import Streams
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import SharedFleet

COMMAND = [sys.executable, "-m", "chiron_api", "mcp"]
KEY = "a long key of these tests"

Environment = Callable[..., dict[str, str]]
Talking = Callable[..., AbstractAsyncContextManager[Client]]
Serving = Callable[..., AbstractContextManager[str]]


@pytest.fixture
def variables(settings: Settings) -> Environment:
    """The environment of a server of the test's own."""
    return lambda **env: environment(settings, **env)


@pytest.fixture
def talking(variables: Environment, tmp_path: Path) -> Talking:
    """`async with talking(mode=...) as client`: a client of a server of its own, over standard streams."""

    @asynccontextmanager
    async def talk(mode: str = "auto", **env: str) -> AsyncIterator[Client]:
        command, *arguments = COMMAND
        server = StdioServerParameters(command=command, args=arguments, env=variables(**env), cwd=tmp_path)
        with forked_children():
            async with Client(server, mode=mode, read_timeout_seconds=60) as client:
                yield client

    return talk


@pytest.fixture
def serving(variables: Environment, tmp_path: Path) -> Serving:
    """`with serving(**env) as url`: a server over HTTP that runs until the end of the block; without a key, unless `env` says."""

    @contextmanager
    def serve(**env: str) -> Iterator[str]:
        env.setdefault("CHIRON_API_WITHOUT_KEY", "false" if "CHIRON_API_KEY" in env else "true")
        with (
            (tmp_path / "mcp.log").open("wb") as log,
            forked_python.Popen(
                [*COMMAND, "--http", "0"],
                env=variables(**env),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=tmp_path,
            ) as process,
        ):
            try:
                yield process.stdout.readline().rsplit(maxsplit=1)[-1]
            finally:
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


@pytest.fixture
def services(settings: Settings, pool: Pool, embedder: Embedder) -> Services:
    """What tools use that are called without a server, within `calling`."""
    return Services(
        settings, pool, lambda: embedder, Streams(pool, settings.redis_url), SharedFleet(pool, settings)
    )
