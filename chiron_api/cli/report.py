import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.reports.formats import FORMATS, FormatName
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import refuse_to_overwrite, write
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

MARKDOWN = FormatName("md")

cli = typer.Typer()


@cli.command()
async def report(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Id of a batch or of a run, or the name of a subject."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="A subject, by its name or id.")
    ] = None,
    format: Annotated[FormatName, typer.Option("--format", "-f", help="What to write.")] = MARKDOWN,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write, or folder for obsidian. Default: what is text is printed."
        ),
    ] = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also facts that are not sure enough yet, marked.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite the file, or write into a folder that holds other files."),
    ] = False,
) -> None:
    """Report what is known: findings with numbered sources, contradictions, what is missing, and what it cost.

    Everything in it is read from the database; no model writes it.
    """
    selection = parse_target(target, subject)
    report_format = FORMATS[format]
    if output is None and not report_format.is_text:
        raise UsageError(f"Say with --output where the report goes: {format} cannot be printed.")
    if output is not None and report_format.render:
        refuse_to_overwrite(output, force=force)  # before the work
    async with open_pool(settings().database_url, size=1) as pool:
        content = await gather(pool, selection, with_candidates=candidates)
    if output is not None:
        typer.echo(write(content, report_format, output, force=force))
    elif report_format.render:
        sys.stdout.writelines(map(str, report_format.render(content)))


def parse_target(target: str | None, subject: str | None) -> UUID | str:
    """The id of a batch or run, or the name of a subject. Raises UsageError unless exactly one is given."""
    if (target is None) == (subject is None):
        raise UsageError("Name one thing: the id of a batch or a run, or a subject with --subject.")
    if target is None:
        return subject or ""
    try:
        return UUID(target.strip())
    except ValueError:
        return target
