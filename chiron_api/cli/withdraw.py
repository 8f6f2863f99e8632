from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_workers.access.audit import command
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def withdraw(
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Id of a fact.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept in the fact's history.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Bring a withdrawn fact back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a fact out: no search and no report shows it, and it counts for and against nothing. It is not deleted."""
    change = withdrawals.reinstate if undo else withdrawals.withdraw
    async with open_services(settings(), pool_size=2) as services, services.store() as store:
        fact_id = await id_of(store.session.pool, fact, Referent.FACT)
        async with command(services.pool, f"facts.{'reinstate' if undo else 'withdraw'}", fact_id):
            status_before = await change(store.facts, str(fact_id), reason=reason)
            status = await store.facts.status(str(fact_id))
            await store.session.commit()
    if as_json:
        typer.echo(json_line({"id": str(fact_id), "status_before": status_before, "status": status}))
    elif status_before == status:
        typer.echo(f"Fact {fact_id} is {status} already.")
    else:
        typer.echo(f"Fact {fact_id} is {status} now; it was {status_before}.")
