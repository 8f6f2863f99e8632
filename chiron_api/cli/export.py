import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from chiron_api.atomic_file import atomic_write, refuse_to_overwrite
from chiron_api.cli.report import require_one, selection_of
from chiron_api.text import as_json
from chiron_api.transfer.csv_writer import CsvWriter
from chiron_api.transfer.exporting import exported
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

cli = typer.Typer()


class ExportFormat(StrEnum):
    """What knowledge can be exported as."""

    JSONL = "jsonl"
    CSV = "csv"


@cli.command()
async def export(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Id of a batch or of a run, or the name of a subject or of a batch. Default: everything.",
        ),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="A subject, by its name or id.")
    ] = None,
    format: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="What to write.")
    ] = ExportFormat.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. Default: it is printed.")
    ] = None,
    with_snapshots: Annotated[
        bool,
        typer.Option(
            "--with-snapshots",
            help="Also the texts of the sources, so that quotes can be checked elsewhere; jsonl only.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Export facts with all their sources, links and history, for `chiron import` or any other program."""
    if with_snapshots and format is ExportFormat.CSV:
        raise UsageError(
            "--with-snapshots needs --format jsonl: a cell of a CSV file has no room for a text."
        )
    is_whole = target is None and subject is None
    if not is_whole:
        require_one(target, subject)
    rows = CsvWriter() if format is ExportFormat.CSV else None
    with _open_output(output, force=force) as file:
        async with open_pool(settings().database_url, size=1) as pool:
            selection = None if is_whole else await selection_of(pool, target, subject)
            if rows:
                file.write(rows.head())
            async for record in exported(pool, selection, with_snapshots=with_snapshots):
                file.write(rows.rows(record) if rows else f"{as_json(record)}\n")
    if output is not None:
        typer.echo(f"{output} written.")


@contextmanager
def _open_output(output: Path | None, *, force: bool) -> Iterator[TextIO]:
    """The stream to write to; a file gets its name when it is complete."""
    if output is None:
        yield sys.stdout
        return
    refuse_to_overwrite(output, force=force)
    with atomic_write(output) as path, path.open("w", encoding="utf-8", newline="") as file:
        yield file
