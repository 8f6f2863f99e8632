from pathlib import Path
from typing import Annotated

import typer

from chiron_api.backup.backups import restore as put_back
from chiron_api.cli import raise_on_sigterm
from chiron_api.local_stack.stack import database

cli = typer.Typer()


@cli.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `chiron backup` wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Drop everything that the database holds of Chiron first.")
    ] = False,
) -> None:
    """Put a backup back, all of it or nothing. Stop workers and API first; the database must hold no data."""
    raise_on_sigterm()
    with database() as url:
        names = put_back(url, file.absolute(), force=force)
    typer.echo(f"Restored {file}. Runs that were being played when it was made go on when a worker starts.")
    if names:
        typer.echo(f"It was made by an older version: run `chiron migrate` ({', '.join(names)}).")
