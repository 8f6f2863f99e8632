"""The HTTP API on a free port, within the process of the test."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import uvicorn

from chiron_api.http.app import build_app
from chiron_api.http.serve import bounded_server
from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings
from support.described_answers import DescribedClient

LOOK_S = 0.005  # between two looks whether it shall end
# Nothing is encrypted, and reading the certificates of authorities takes 35 ms.
WITHOUT_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class PromptServer(uvicorn.Server):
    """Ends at once where nothing is open. uvicorn looks ten times a second whether it shall, and then waits once more."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(LOOK_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
            await server.wait_closed()
        await self.lifespan.shutdown()


@asynccontextmanager
async def api_client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an API that serves with these settings while the block runs."""
    bounds = bounded_server(
        build_app(settings),
        trusted_proxies=settings.trusted_proxies,
        log_config=None,
        timeout_graceful_shutdown=3,
    )
    server = PromptServer(bounds.config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():  # uvicorn offers no event
            await asyncio.sleep(LOOK_S)
        if task.done():
            await task
        try:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with DescribedClient(
                base_url=address, timeout=60, trust_env=False, verify=WITHOUT_AUTHORITIES
            ) as client:
                yield client
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def keyed_client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """As `api_client`, with the key that the server's home keeps."""
    async with api_client(settings) as client:
        client.headers["Authorization"] = f"Bearer {api_key(settings)}"
        yield client
