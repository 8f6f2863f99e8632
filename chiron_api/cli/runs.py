from functools import partial
from typing import Annotated

import typer

from chiron_api.acts.runs import RunPage, list_runs
from chiron_api.answers.runs import Run
from chiron_api.cli.display.answer import AsJson, print_list
from chiron_api.cli.input.options import Draft, takes_input
from chiron_api.cli.input.pages import first_items
from chiron_api.services import open_services
from chiron_api.text import facts_phrase, local_time, one_line, usd
from chiron_workers.batches.references import id_of
from chiron_workers.batches.summaries import summary
from chiron_workers.ids import time_of
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
@takes_input(without=("batch", "limit", "after"), subject=typer.Option("--subject", "-s"))
async def runs(
    draft: Draft[RunPage],
    batch: Annotated[
        str | None,
        typer.Option("--batch", metavar="ID", help="Only those of this batch.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Runs at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the runs of all batches, newest first. --json prints a line a run.

    `chiron show RUN` has the answer of one.
    """
    async with open_services(settings(), pool_size=1) as services:
        batch_id = (await summary(services.pool, await id_of(services.pool, batch))).id if batch else None
        page = draft.complete(batch=batch_id)
        items = await first_items(limit, page, partial(list_runs, services))
    print_list(items, _text, "No run is like that.", as_json=as_json)


def _text(run: Run) -> str:
    state = f"{run.state}, nothing found" if run.nothing_found else run.state
    return (
        f"{local_time(time_of(run.id), '%Y-%m-%d %H:%M')}  {run.subject_id}  {one_line(run.topic, chars_max=2_000)}\n"
        f"    {run.id}  {state}, {facts_phrase(run.facts, run.confirmed, run.cited)}, {usd(run.spent_usd)}"
    )
