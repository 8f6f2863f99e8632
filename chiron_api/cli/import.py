# ruff: noqa: N999  # a module is called like its command
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_workers.access.audit import long_command
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command("import")
async def import_(
    file: Annotated[Path, typer.Argument(help="A JSONL file of `chiron export`.")],
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", "-s", help="Subject that all facts go to. Default: those that the file names."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Then have a model asked whether quotes support facts, as `chiron check` does."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import facts that were exported. What is known already is not doubled, and nothing of it is changed.

    The file is checked first; if a line is wrong nothing is imported. Quotes are looked up in the texts of the sources
    again, and confidences computed again, whatever the file says.
    """
    from chiron_api.acts.checks import check_subject
    from chiron_api.cli.check import check_lines
    from chiron_api.services import open_services
    from chiron_api.transfer.importing import import_file, subjects_of

    target = (slug(subject), subject) if subject is not None else None
    async with open_services(settings(), pool_size=3) as services:
        async with long_command(services.pool, "facts.import", target[0] if target else "") as result:
            summary = await import_file(services.pool, services.embedder, file, subject=target)
            result["facts"] = summary.facts
        subjects = subjects_of(file, target) if check else []
        receipts = [(await check_subject.command(services, subject_id)).answer for subject_id in subjects]
    if as_json:
        typer.echo(json_line({**asdict(summary), "checks": receipts} if check else summary))
        return
    typer.echo(f"Imported: {summary}.")
    if summary.unproven:
        typer.echo(
            f"{count(summary.unproven, 'quote counts', 'quotes count')} as unverified, since the text of the "
            "source is not here or does not hold the quote; an export --with-snapshots brings the texts along."
        )
    for receipt in receipts:
        typer.echo("\n".join(check_lines(receipt)))
