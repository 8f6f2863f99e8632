import sys
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from chiron_api.acts.remedies import with_remedies
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.display.remedies import pasteable
from chiron_api.cli.display.summary import print_batch, print_batches, print_run
from chiron_api.text import as_json as json_line
from chiron_workers.batches.references import Referent, id_of, short_ids
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, find_run, newest, runs_of
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound
from chiron_workers.settings import settings

if TYPE_CHECKING:  # its module takes as long to import as a tenth of a command
    from chiron_workers.batches.cost_to_finish import CostToFinish

RUNS_SHOWN = 50

cli = typer.Typer()


@cli.command("list")
async def list_batches(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Batches at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the batches, newest first."""
    async with open_pool(settings().database_url, size=2) as pool:
        batches = await newest(pool, limit=limit)
        short = await short_ids(pool, [batch.id for batch in batches])
        if sys.stdout.isatty() and not as_json:
            await _print_health(pool)
    if as_json:
        for batch in batches:
            typer.echo(json_line(batch))
    elif not batches:
        typer.echo("There is no batch yet. `chiron submit TOPIC --subject S` makes one.")
    else:
        print_batches(batches, short)


@cli.command()
async def show(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch, of a run or of a fact.")],
    transcript: Annotated[
        bool,
        typer.Option("--transcript", help="Print the whole conversation of a run; --json, a line an entry."),
    ] = False,
    nothing_found: Annotated[
        bool, typer.Option("--nothing-found", help="Of a batch only the runs that completed without a fact.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one batch or run: how far it is and what it cost; or one fact: what it rests on and how sure it is."""
    async with open_pool(settings().database_url, size=2) as pool:
        if transcript:
            await _show_transcript(pool, target, as_json=as_json)
            return
        item_id = await id_of(pool, target, Referent.RESEARCH, Referent.FACT)
        try:
            summary = await find(pool, str(item_id))
        except NotFound:
            await _show_fact(pool, item_id, as_json=as_json)
            return
        if isinstance(summary, BatchSummary):
            await _show_batch(pool, summary, target, as_json=as_json, nothing_found=nothing_found)
        else:
            await _show_run(pool, summary, as_json=as_json)


async def _print_health(pool: Pool) -> None:
    from chiron_api.cli.display.health_line import print_health

    await print_health(pool, settings(), problems_only=False)


async def _show_transcript(pool: Pool, target: str, *, as_json: bool) -> None:
    from chiron_api.cli.display.transcript import transcript_lines
    from chiron_workers.runs.transcript import read_transcript

    summary = await find_run(pool, target)
    if summary.pruned_at:
        raise NotFound(
            f"The conversation of {target} was pruned. {pasteable('show', target)} has its answer."
        )
    is_empty = True
    async for entry in read_transcript(pool, summary.id):
        typer.echo(json_line(entry) if as_json else "\n".join(transcript_lines(entry)))
        is_empty = False
    if is_empty and not as_json:
        typer.echo("No worker has begun this run, so nobody has said anything yet.")


async def _show_run(pool: Pool, run: RunSummary, *, as_json: bool) -> None:
    from chiron_api.views.batches import cost_to_finish_of, summary_fields

    cost = await cost_to_finish_of(pool, run)
    if as_json:
        typer.echo(json_line(summary_fields(with_remedies(run, cost), cost_to_finish=cost)))
        return
    print_run(run, has_amount=cost is not None, times=await _times_of(pool, run))
    _print_finish_hint(cost)


def _print_finish_hint(cost: "CostToFinish | None") -> None:
    if cost:
        from chiron_api.cli.display.finish_hint import finish_hint  # which showing help does without

        typer.echo(f"\n{finish_hint(cost)}")


async def _times_of(pool: Pool, run: RunSummary) -> dict[str, float]:
    """Seconds by activity of the run; empty where it was pruned or has not begun."""
    from chiron_api.answers.runs import TimedTurns
    from chiron_api.views.timelines import time_sums
    from chiron_workers.runs.timeline import load_timeline

    timeline = await load_timeline(pool, run.id, is_over=True, rows=1)
    return (
        time_sums(TimedTurns.model_validate(timeline.total))
        if timeline.total and timeline.total.replies
        else {}
    )


async def _show_batch(
    pool: Pool, batch: BatchSummary, target: str, *, as_json: bool, nothing_found: bool
) -> None:
    from chiron_api.cli.display.difference import difference_lines
    from chiron_api.views.batches import batch_page, cost_to_finish_of, difference_of

    difference, cost = await difference_of(pool, batch.id), await cost_to_finish_of(pool, batch)
    if as_json:
        typer.echo(json_line(batch_page(with_remedies(batch, cost), difference, cost)))
        return
    runs = await runs_of(pool, batch.id, limit=RUNS_SHOWN, nothing_found=nothing_found)
    run_count = batch.nothing_found if nothing_found else sum(batch.runs.values())
    print_batch(batch, runs, run_count=run_count, has_amount=cost is not None)
    if runs and sys.stdout.isatty():
        typer.echo(f"{pasteable('show', f'{target}#{runs[0].number}')} shows a run with its answer.")
    _print_finish_hint(cost)
    if difference:
        typer.echo("\nAgainst the time before")
        typer.echo("\n".join(difference_lines(difference)))


async def _show_fact(pool: Pool, fact_id: UUID, *, as_json: bool) -> None:
    from chiron_api.cli.display.fact import fact_lines
    from chiron_api.views.facts import fact_page
    from chiron_workers.knowledge.facts.fact_details import load_details
    from chiron_workers.runs.session import Session

    try:
        fact = await load_details(Session(pool), fact_id)
    except NotFound:
        raise NotFound(
            f"No batch, no run and no fact has the id {fact_id}. `chiron list` shows the batches."
        ) from None
    typer.echo(json_line(fact_page(fact)) if as_json else "\n".join(fact_lines(fact)))
