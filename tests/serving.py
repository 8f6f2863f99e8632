"""Scripted sites on loopback: served while a test needs them, and gone without a trace."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

_SHUT_S = 0.1


@asynccontextmanager
async def served(app: web.Application, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Serve an application while the block runs; yields its base URL."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUT_S)
    await runner.setup()
    site = web.TCPSite(runner, host, 0)
    await site.start()
    try:
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await site.stop()
        await _close(runner)


async def _close(runner: web.AppRunner) -> None:
    """End every connection, also those that were accepted last and those whose client reads no more.

    `cleanup` alone leaves both to the garbage collector, which then warns in the middle of another test.
    """
    server = runner.server
    assert server is not None
    for _ in range(
        5
    ):  # what the kernel handed over before the listening ended becomes a connection within these
        await asyncio.sleep(0)
    transports = [connection.transport for connection in server.connections]
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)
