import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.formats import FORMATS, FormatName
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import refuse_to_overwrite, write
from chiron_workers.batches.references import id_of, is_reference
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound, UsageError
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
    format: Annotated[
        FormatName | None,
        typer.Option("--format", "-f", help="What to write. Default: md, which a terminal shows rendered."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, or folder for obsidian and crate. Default: what is text is printed.",
        ),
    ] = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also facts that are not sure enough yet, marked.")
    ] = False,
    texts: Annotated[
        TextChoice | None,
        typer.Option(
            "--texts",
            help="Which sources' texts go into a crate: those of public pages (the default), all, or none.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite the file, or write into a folder that holds other files."),
    ] = False,
) -> None:
    """Report what is known: findings with numbered sources, contradictions, what is missing, and what it cost.

    Everything in it is read from the database; no model writes it.
    """
    require_one(target, subject)
    report_format = FORMATS[format or MARKDOWN]
    if output is None and not report_format.is_text:
        raise UsageError(f"Say with --output where the report goes: {format} cannot be printed.")
    if texts is not None and not report_format.pack:
        raise UsageError("--texts needs --format crate: other reports hold no texts of sources.")
    if output is not None and report_format.render:
        refuse_to_overwrite(output, force=force)  # before the work
    async with open_pool(settings().database_url, size=1) as pool:
        selection = await selection_of(pool, target, subject)
        content = await gather(
            pool, selection, with_candidates=candidates, with_selections=report_format.has_selections
        )
        if report_format.pack and output is not None:
            typer.echo(await report_format.pack(pool, content, output, texts or TextChoice.PUBLIC, force))
            return
    if output is not None:
        typer.echo(write(content, report_format, output, force=force))
    elif report_format.render:
        parts = map(str, report_format.render(content))
        if format is None and sys.stdout.isatty():
            print_markdown("".join(parts))
        else:
            sys.stdout.writelines(parts)


def print_markdown(text: str) -> None:
    """Print Markdown as a terminal can show it: headings, lists and links instead of their marks."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def require_one(target: str | None, subject: str | None) -> None:
    """Raises UsageError unless either the id of a batch or run or a subject is given."""
    if (target is None) == (subject is None):
        raise UsageError("Name one thing: the id of a batch or a run, or a subject with --subject.")


async def selection_of(pool: Pool, target: str | None, subject: str | None) -> UUID | str:
    """The batch or run that a target means, or the subject that it or `subject` names."""
    if target is None or not is_reference(target):
        return target or subject or ""
    try:
        return await id_of(pool, target)
    except NotFound:
        return target
