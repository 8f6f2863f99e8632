import socket
from typing import Annotated

import typer

from chiron_workers.db.connect import connect
from chiron_workers.errors import ChironError
from chiron_workers.settings import Settings, settings

cli = typer.Typer()


@cli.command()
def api(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, instead of CHIRON_API_HOST.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Port, instead of CHIRON_API_PORT; 0 takes a free one."),
    ] = None,
) -> None:
    """Serve the HTTP API: submit batches, follow them, search the knowledge, call tools.

    Without CHIRON_API_KEY it listens on this machine only.
    """
    found = settings()
    wanted = found.model_copy(
        update={
            "api_host": host or found.api_host,
            "api_port": found.api_port if port is None else port,
        }
    )
    serve(wanted)


def serve(wanted: Settings) -> None:
    """Answer until SIGINT or SIGTERM; open streams are ended then.

    Raises:
        ConfigurationError: It would listen beyond this machine without a key.
        ServiceUnavailable: Postgres cannot be reached.
        ChironError: The port is taken.
    """
    import uvicorn

    from chiron_api.http.app import build_app

    app = build_app(wanted)
    connect(
        wanted.database_url
    ).close()  # says in a sentence what would be a traceback from within the server
    with listen(wanted.api_host, wanted.api_port) as listener:
        typer.echo(f"HTTP API on {address_of(wanted.api_host, listener)}")
        config = uvicorn.Config(app, log_level=wanted.log_level, timeout_graceful_shutdown=10)
        uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises ChironError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ChironError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            "Stop what listens there, or choose another with --port or CHIRON_API_PORT."
        ) from None


def address_of(host: str, listener: socket.socket) -> str:
    """Where a socket of ours is reached, as a URL without a path."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
