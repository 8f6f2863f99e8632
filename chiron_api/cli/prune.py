from datetime import timedelta
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.times import parse_age
from chiron_api.text import as_json as json_line
from chiron_workers.access.audit import long_command, prune_entries
from chiron_workers.batches import prune as retention
from chiron_workers.batches.prune import Month
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def prune(
    older_than: Annotated[str, typer.Option(help="Age of what may go, such as 90d, 12w or 1y.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Drop the journals, events and audit entries of past months. Batches, runs with their answers, and facts stay.

    A month goes as a whole, once all of it is older than that and each of its runs is finished. Its runs cannot be
    retried or continued any more, and their events cannot be watched again.
    """
    age = parse_age(older_than)
    async with open_pool(settings().database_url, size=2) as pool:
        if dry_run:
            months, entries = await _prune(pool, age, dry_run=True)
        else:
            async with long_command(pool, "journals.prune", older_than) as result:
                months, entries = await _prune(pool, age, dry_run=False)
                result |= {"months": sum(not month.kept for month in months), "entries": entries}
    if as_json:
        document = {"dry_run": dry_run, "months": [_entry(month) for month in months], "audit": entries}
        typer.echo(json_line(document))
        return
    for month in months:
        size = f"{month.runs:,} {'run' if month.runs == 1 else 'runs'}, {month.bytes / 2**20:,.1f} MiB"
        verb = "would go" if dry_run else "pruned"
        label = month.name.replace("before_", "before ").replace("_", "-")
        typer.echo(f"{label:16} {f'kept: {month.kept}' if month.kept else verb} ({size})")
    if entries:
        verb = "would go" if dry_run else "pruned"
        typer.echo(f"{'audit trail':16} {verb} ({entries:,} {'entry' if entries == 1 else 'entries'})")


async def _prune(pool: Pool, age: timedelta, *, dry_run: bool) -> tuple[list[Month], int]:
    months = await retention.prune(pool, older_than=age, dry_run=dry_run)
    return months, await prune_entries(pool, older_than=age, dry_run=dry_run)


def _entry(month: Month) -> dict[str, object]:
    size = {"name": month.name, "runs": month.runs, "bytes": month.bytes}
    return size | {"pruned": not month.kept, "kept": month.kept or None}
