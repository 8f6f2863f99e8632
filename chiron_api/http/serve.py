"""Serving: the socket that a server of ours listens on, and the HTTP API on it until a signal comes."""

import socket
from collections.abc import Sequence
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
        bounded_server(
            app,
            trusted_proxies=settings.trusted_proxies,
            log_level=settings.log_level,
            timeout_graceful_shutdown=10,
        ).run(sockets=[listener])


def bounded_server(
    app: "Starlette", *, trusted_proxies: Sequence[str] = (), **options: Any
) -> "uvicorn.Server":
    """A server that strangers cannot fill with requests that never end, and whose log has no queries.

    Args:
        trusted_proxies: Whose X-Forwarded-For and X-Forwarded-Proto count: addresses and networks.
        options: Those of `uvicorn.Config`.
    """
    import uvicorn

    from chiron_api.http.access_log import cut_queries
    from chiron_api.http.connections import BACKLOG, BoundedProtocol
    from chiron_api.http.proxies import ForwardedHeaders, TrustedProxies

    config = uvicorn.Config(
        ForwardedHeaders(app, TrustedProxies.of(trusted_proxies)) if trusted_proxies else app,
        http=BoundedProtocol,
        ws="none",
        backlog=BACKLOG,
        proxy_headers=False,  # uvicorn by itself believes every program of this machine, and whom FORWARDED_ALLOW_IPS names
        **options,
    )
    cut_queries()  # after uvicorn has configured its loggers
    return uvicorn.Server(config)


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
