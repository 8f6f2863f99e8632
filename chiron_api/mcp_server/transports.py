import asyncio
import contextlib
import os
import signal
from typing import Any

import typer
import uvicorn
from fastmcp import FastMCP

from chiron_api.http.serve import address_of, listen
from chiron_api.mcp_server.lazy_services import LateServices
from chiron_api.mcp_server.server import http_app, research_server
from chiron_workers.settings import Settings

GRACE_S = 5.0


async def serve_stdio() -> None:
    """Answer on stdin and stdout until stdin ends; SIGTERM and Ctrl+C end the process, with 128 and their number."""
    services = LateServices()
    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _tell, told, number)
    serving = asyncio.create_task(_serve_stdio(research_server(services)))
    either: list[asyncio.Future[Any]] = [serving, told]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(services.close(), GRACE_S)
    if not serving.done():
        # A thread reads stdin and cannot be told to stop; what it would wait for may never come.
        os._exit(128 + told.result())
    await serving


async def _serve_stdio(server: FastMCP) -> None:
    await server.run_stdio_async(show_banner=False)


def _tell(told: "asyncio.Future[int]", number: int) -> None:
    if not told.done():
        told.set_result(number)


def serve_http(wanted: Settings) -> None:
    """Answer on `api_host` and `api_port`, at /mcp, until SIGINT or SIGTERM.

    Raises:
        ChironError: The port is taken.
    """
    app = http_app(research_server(LateServices()), key=wanted.api_key.get_secret_value())
    with listen(wanted.api_host, wanted.api_port) as listener:
        typer.echo(f"MCP on {address_of(wanted.api_host, listener)}/mcp")
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=int(GRACE_S), ws="none"
        )
        uvicorn.Server(config).run(sockets=[listener])
