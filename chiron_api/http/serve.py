"""Serving: the socket that a server of ours listens on, and the HTTP API on it until a signal comes."""

import socket
from typing import TYPE_CHECKING, Any

import typer

from chiron_api.local_stack.access import key_hint
from chiron_workers.db.connect import connect
from chiron_workers.errors import ChironError
from chiron_workers.settings import Settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette


def serve(settings: Settings) -> None:
    """Answer until SIGINT or SIGTERM; open streams are ended then.

    Raises:
        ConfigurationError: It would listen beyond this machine without a key.
        ServiceUnavailable: Postgres cannot be reached.
        ChironError: The port is taken.
    """
    from chiron_api.http.app import build_app

    app = build_app(settings)
    # What would be a traceback from within the server is a sentence here.
    connect(settings.database_url).close()
    with listen(settings.api_host, settings.api_port) as listener:
        typer.echo(f"HTTP API on {address_of(settings.api_host, listener)}")
        typer.echo(key_hint("It", settings))
        bounded_server(app, log_level=settings.log_level, timeout_graceful_shutdown=10).run(
            sockets=[listener]
        )


def bounded_server(app: "Starlette", **options: Any) -> "uvicorn.Server":
    """A server that strangers cannot fill with requests that never end; the options are those of `uvicorn.Config`."""
    import uvicorn

    from chiron_api.http.connections import BACKLOG, BoundedProtocol

    return uvicorn.Server(uvicorn.Config(app, http=BoundedProtocol, ws="none", backlog=BACKLOG, **options))


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ChironError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise ChironError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            "Stop what listens there, or choose another with --port or CHIRON_API_PORT."
        ) from None


def address_of(host: str, listener: socket.socket) -> str:
    """Where a socket of ours is reached, as a URL without a path."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
