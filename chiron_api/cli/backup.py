from pathlib import Path
from typing import Annotated

import typer

from chiron_api.backup.backups import back_up
from chiron_api.cli import raise_on_sigterm
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.display.remedies import pasteable
from chiron_api.local_stack.stack import database
from chiron_api.text import one_line

cli = typer.Typer()


@cli.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it, such as chiron.backup.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write everything into one file. Workers may go on; the file holds all as of one moment."""
    raise_on_sigterm()
    with database() as url:
        done = back_up(url, file.absolute(), force=force)
    if done.left_out:
        names = ", ".join(one_line(name) for name in done.left_out)
        typer.echo(
            f"chiron: left out, as it is not Chiron's, so that `restore` will not bring it back: {names}. "
            "Back it up with pg_dump.",
            err=True,
        )
    sentence = (
        f"Wrote {file} ({done.size_bytes / 2**20:,.1f} MiB). {pasteable('restore', str(file))} puts it back."
    )
    fields = {"file": str(file), "bytes": done.size_bytes, "left_out": done.left_out}
    print_answer(sentence, fields, as_json=as_json)
