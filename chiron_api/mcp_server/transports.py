import asyncio
import contextlib
import os
import signal
from typing import Any

import typer

from chiron_api.http.serve import address_of, bounded_server, listen
from chiron_api.local_stack.access import api_key, key_hint
from chiron_api.mcp_server.lazy_services import LazyServices
from chiron_api.mcp_server.server import http_app, research_server
from chiron_workers.settings import Settings

GRACE_S = 5.0


async def serve_stdio() -> None:
    """Answer on stdin and stdout until stdin ends; SIGTERM and Ctrl+C end the process, with 128 and their number."""
    services = LazyServices()
    loop = asyncio.get_running_loop()
    signal_number: asyncio.Future[int] = loop.create_future()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _set_once, signal_number, number)
    server_task = asyncio.create_task(research_server(services).run_stdio_async(show_banner=False))
    futures: list[asyncio.Future[Any]] = [server_task, signal_number]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            await services.close()
    if not server_task.done():
        # A thread blocks in reading stdin; it cannot be stopped, and may never get a line.
        os._exit(128 + signal_number.result())
    await server_task


def _set_once(future: "asyncio.Future[int]", number: int) -> None:
    if not future.done():
        future.set_result(number)


def serve_http(settings: Settings) -> None:
    """Answer on `api_host` and `api_port`, at /mcp, until SIGINT or SIGTERM.

    Raises:
        ConfigurationError: It would be open beyond this machine.
        ChironError: The port is taken.
    """
    services = LazyServices()
    app = http_app(research_server(services), services, key=api_key(settings))
    with listen(settings.api_host, settings.api_port) as listener:
        typer.echo(f"MCP on {address_of(settings.api_host, listener)}/mcp")
        typer.echo(key_hint("It", settings))
        bounded_server(
            app,
            trusted_proxies=settings.trusted_proxies,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=int(GRACE_S),
        ).run(sockets=[listener])
