from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli.display.difference import difference_lines
from chiron_api.cli.display.fact import fact_lines
from chiron_api.cli.display.summary import print_batch, print_batches, print_run
from chiron_api.text import as_json as json_line
from chiron_api.views.batches import batch_page, difference_of
from chiron_api.views.facts import fact_page
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, newest, runs_of
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.facts.fact_details import FactDetails, load_details
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

RUNS_SHOWN = 50

cli = typer.Typer()
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@cli.command("list")
async def list_batches(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Batches at most.")] = 20,
    as_json: Json = False,
) -> None:
    """List the batches, newest first."""
    async with open_pool(settings().database_url, size=2) as pool:
        batches = await newest(pool, limit=limit)
    if as_json:
        typer.echo(json_line(batches))
    elif not batches:
        typer.echo("There is no batch yet. `chiron submit TOPIC --subject S` makes one.")
    else:
        print_batches(batches)


@cli.command()
async def show(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch, of a run or of a fact.")],
    as_json: Json = False,
) -> None:
    """Show one batch or run: how far it is and what it cost; or one fact: what it rests on and how sure it is."""
    item, runs, difference = await _find(target)
    if as_json:
        typer.echo(json_line(_page(item, difference)))
    elif isinstance(item, FactDetails):
        typer.echo("\n".join(fact_lines(item)))
    elif isinstance(item, RunSummary):
        print_run(item)
    else:
        print_batch(item, runs)
        if difference:
            typer.echo("\nAgainst the time before")
            typer.echo("\n".join(difference_lines(difference)))


async def _find(
    target: str,
) -> tuple[BatchSummary | RunSummary | FactDetails, list[RunSummary], SubjectDiff | None]:
    async with open_pool(settings().database_url, size=2) as pool:
        try:
            summary = await find(pool, target)
        except NotFound:
            return await _fact(pool, target), [], None
        if isinstance(summary, RunSummary):
            return summary, [], None
        runs = await runs_of(pool, summary.id, limit=RUNS_SHOWN)
        return summary, runs, await difference_of(pool, summary.id)


async def _fact(pool: Pool, target: str) -> FactDetails:
    try:
        return await load_details(Session(pool), UUID(target))
    except NotFound:
        raise NotFound(
            f"No batch, no run and no fact has the id {target}. `chiron list` shows the batches."
        ) from None


def _page(item: BatchSummary | RunSummary | FactDetails, difference: SubjectDiff | None) -> object:
    match item:
        case BatchSummary():
            return batch_page(item, difference)
        case FactDetails():
            return fact_page(item)
    return item
