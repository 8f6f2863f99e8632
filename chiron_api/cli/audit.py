from functools import partial
from typing import Annotated

import typer

from chiron_api.acts.keys import AuditPage, list_audit
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.pages import first_items
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import local_time, one_line
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
@takes_input(without=("limit", "after"))
async def audit(
    page: AuditPage,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Entries at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, newest first: over HTTP, over MCP and by commands. --json prints a line an entry."""
    async with open_services(settings(), pool_size=1) as services:
        entries = await first_items(limit, page, partial(list_audit, services))
    for entry in entries:
        if as_json:
            typer.echo(json_line(entry))
            continue
        key = f" ({entry.key_name})" if entry.key_name else ""
        via = ", ".join(str(entry.detail[name]) for name in ("via", "phase") if name in entry.detail)
        typer.echo(
            one_line(
                f"{local_time(entry.at, '%Y-%m-%d %H:%M:%S')}  {entry.owner}{key}  {entry.action}  {entry.target}  {via}".rstrip()
            )
        )
    if not entries and not as_json:
        typer.echo("Nothing was changed yet.")
