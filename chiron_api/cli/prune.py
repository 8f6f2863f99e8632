import re
from datetime import timedelta
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.text import as_json as json_line
from chiron_workers.batches import prune as retention
from chiron_workers.batches.prune import Month
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

DAYS = {"d": 1, "w": 7, "y": 365}
DAYS_MAX = 365_000

cli = typer.Typer()


@cli.command()
async def prune(
    older_than: Annotated[str, typer.Option(help="Age of what may go, such as 90d, 12w or 1y.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Drop the journals and events of past months. Batches, runs with their answers, and facts stay.

    A month goes as a whole, once all of it is older than that and each of its runs is finished. Its runs cannot be
    retried or continued any more, and their events cannot be watched again.
    """
    age = parse_age(older_than)
    async with open_pool(settings().database_url, size=2) as pool:
        months = await retention.prune(pool, older_than=age, dry_run=dry_run)
    if as_json:
        typer.echo(json_line({"dry_run": dry_run, "months": [_entry(month) for month in months]}))
        return
    for month in months:
        size = f"{month.runs:,} {'run' if month.runs == 1 else 'runs'}, {month.bytes / 2**20:,.1f} MiB"
        verb = "would go" if dry_run else "pruned"
        label = month.name.replace("before_", "before ").replace("_", "-")
        typer.echo(f"{label:16} {f'kept: {month.kept}' if month.kept else verb} ({size})")


def parse_age(text: str) -> timedelta:
    """Parse an age such as 90d, 12w or 1y. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*([dwy])\s*", text)
    if match is None or not 0 < (days := int(match[1]) * DAYS[match[2]]) <= DAYS_MAX:
        raise UsageError(f"{text[:40]!r} is no age; write 90d for days, 12w for weeks or 1y for years.")
    return timedelta(days=days)


def _entry(month: Month) -> dict[str, object]:
    size = {"name": month.name, "runs": month.runs, "bytes": month.bytes}
    return size | {"pruned": not month.kept, "kept": month.kept or None}
