import asyncio
import os
import sys
from typing import Annotated

import typer

from chiron_api.local_stack.access import api_key
from chiron_workers.settings import settings

cli = typer.Typer()
TERMINAL_HINT = "An MCP client should start this and talk to its standard input and output. Ctrl+C ends it; see docs/mcp.md."


@cli.command()
def mcp(
    http: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            metavar="PORT",
            help="Serve streamable HTTP on this port, at /mcp; 0 takes a free one.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on with --http.")] = "127.0.0.1",
) -> None:
    """Offer the knowledge and research itself to MCP clients, over standard input and output or HTTP.

    HTTP asks for the key that `chiron key` prints as a bearer token. See docs/mcp.md.
    """
    current = settings()
    http_settings = current.model_copy(update={"api_host": host, "api_port": http or 0})
    if http is not None:
        api_key(http_settings)
    # fastmcp would read its settings from any .env, and log in a format of its own.
    os.environ.update({"FASTMCP_ENV_FILE": os.devnull, "FASTMCP_LOG_ENABLED": "false"})
    from chiron_api.mcp_server.transports import serve_http, serve_stdio
    from chiron_workers.telemetry.logs import log_to_stderr

    # Clients show what a server writes to stderr as errors.
    log_to_stderr("warning" if http is None and current.log_level == "info" else current.log_level)
    if http is None:
        if sys.stdin.isatty():
            typer.echo(TERMINAL_HINT, err=True)
        asyncio.run(serve_stdio())
    else:
        serve_http(http_settings)
