from pathlib import Path
from typing import Annotated

import typer

from chiron_api.backup.restores import restore as put_back
from chiron_api.cli import raise_on_sigterm
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.local_stack.stack import database

cli = typer.Typer()


@cli.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `chiron backup` wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Drop everything that the database holds of Chiron first.")
    ] = False,
    ours_only: Annotated[
        bool, typer.Option("--ours-only", help="Leave out what the file holds beside Chiron's own.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup back, all of it or nothing. Stop workers and API first; the database must hold no data."""
    raise_on_sigterm()
    with database() as url:
        names = put_back(url, file.absolute(), force=force, ours_only=ours_only)
    lines = [f"Restored {file}. Runs that were being played when it was made go on when a worker starts."]
    if names:
        lines.append(f"It was made by an older version, and is up to date now ({', '.join(names)}).")
    print_answer("\n".join(lines), {"file": str(file), "migrations": names}, as_json=as_json)
