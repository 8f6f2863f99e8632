"""Scripted sites on loopback: served while a test needs them, and gone without a trace."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

_SHUT_S = 0.1
_TURNS = 5  # of the loop, more than it takes from accepting a connection to having it


@asynccontextmanager
async def served(app: web.Application, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Serve an application on a free port while the block runs; yields its base URL."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUT_S)
    await runner.setup()
    door = socket.create_server((host, 0), backlog=1_024)
    await web.SockSite(runner, door).start()
    try:
        yield f"http://{host}:{door.getsockname()[1]}"
    finally:
        await _close(runner, door)


async def _close(runner: web.AppRunner, door: socket.socket) -> None:
    """End every connection, also those that were accepted last and those whose client reads no more.

    `cleanup` alone leaves them to the garbage collector, which then warns in the middle of another test: a server that
    is closed while a connection comes in drops it half made, and waits for nobody who does not read.
    """
    server = runner.server
    assert server is not None
    asyncio.get_running_loop().remove_reader(door)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    transports = [connection.transport for connection in server.connections]
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)
