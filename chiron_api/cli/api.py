from typing import Annotated

import typer

from chiron_api.http.serve import serve
from chiron_workers.settings import settings

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

    It asks for a key: CHIRON_API_KEY or, where that is not set, one that CHIRON_HOME keeps. `chiron key` prints it.
    """
    current = settings()
    serve(
        current.model_copy(
            update={
                "api_host": host or current.api_host,
                "api_port": current.api_port if port is None else port,
            }
        )
    )
