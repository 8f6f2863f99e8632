from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count, one_line
from chiron_workers.access.audit import long_command
from chiron_workers.knowledge.facts.quote_rechecks import FIRST, RecheckCounts, recheck
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def recompute(
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only facts of this subject. Default: of all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look again for quotes that are not verified, and compute scores, confidence and status of every fact anew.

    After an upgrade that changes how facts are weighed, or after changing a setting of confidences or the kinds of sources.
    Lists the facts whose status changes.
    """
    totals = RecheckCounts()
    async with open_services(settings(), pool_size=2) as services:
        async with services.store() as store:
            if subject is None:
                subjects = await store.subjects.all()
            else:
                subjects = [await store.subjects.require(subject)]
        async with long_command(services.pool, "facts.recompute", subject or "") as result:
            for entry in subjects:
                after: UUID | None = FIRST
                while after is not None:
                    async with services.store() as store:
                        page, after = await recheck(store.facts, subject_id=entry["subject_id"], after=after)
                    totals += page
            result["facts"] = totals.facts
    if as_json:
        typer.echo(json_line(totals))
        return
    changes = f"{count(totals.changed, 'fact')} changed, the status of {totals.statuses:,} among them"
    typer.echo(
        f"{count(totals.facts, 'fact')} looked at, {count(totals.verified, 'quote')} verified, "
        f"{count(totals.scores, 'source')} scored anew, {changes}."
    )
    for change in totals.status_changes:
        typer.echo(
            f"  {one_line(change.content, chars_max=500)}\n"
            f"        {change.fact_id} ({change.subject_id}): {change.status_before}, now {change.status}"
        )
    if rest := totals.statuses - len(totals.status_changes):
        typer.echo(f"  and {rest:,} more; their histories (`chiron show FACT`) have the change.")
