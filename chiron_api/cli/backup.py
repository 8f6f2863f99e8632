from pathlib import Path
from typing import Annotated

import typer

from chiron_api.backup.backups import back_up
from chiron_api.cli import raise_on_sigterm
from chiron_api.local_stack.stack import database

cli = typer.Typer()


@cli.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, such as chiron.backup.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> None:
    """Write everything into one file. Workers may go on; the file holds all as of one moment."""
    raise_on_sigterm()
    with database() as url:
        size = back_up(url, file.absolute(), force=force)
    typer.echo(f"Wrote {file} ({size / 2**20:,.1f} MiB). `chiron restore {file}` puts it back.")
