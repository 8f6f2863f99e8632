from typing import Annotated

import typer

from chiron_api.acts.facts import Reason, reinstate_fact, show_fact, withdraw_fact
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
@takes_input()
async def withdraw(
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Id of a fact.")],
    reason: Reason,
    undo: Annotated[bool, typer.Option("--undo", help="Bring a withdrawn fact back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a fact out: no search and no report shows it, and it counts for and against nothing. It is not deleted."""
    act = reinstate_fact if undo else withdraw_fact
    async with open_services(settings(), pool_size=2) as services:
        fact_id = await id_of(services.pool, fact, Referent.FACT)
        status_before = (await show_fact(services, fact_id)).status
        status = (await act.command(services, fact_id, reason)).status
    if as_json:
        typer.echo(json_line({"id": str(fact_id), "status_before": status_before, "status": status}))
    elif status_before == status:
        typer.echo(f"Fact {fact_id} is {status} already.")
    else:
        typer.echo(f"Fact {fact_id} is {status} now; it was {status_before}.")
