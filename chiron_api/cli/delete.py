import sys
from typing import Annotated

import typer

from chiron_api.acts.deletion import DeleteOptions, delete_batch, delete_run
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.input.options import takes_input
from chiron_api.services import open_services
from chiron_api.text import count, one_line
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
@takes_input()
async def delete(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    options: DeleteOptions,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a finished run, or a batch with all of its runs, for good. The facts found stay, unless they are unwanted."""
    async with open_pool(settings().database_url, size=1) as pool:
        subject = await find(pool, target)
    if not yes:
        _ask(
            f"Delete {_describe(subject)} for good{', with the facts found first by it' if options.with_facts else ''}?"
        )
    act = delete_run if isinstance(subject, RunSummary) else delete_batch
    async with open_services(settings(), pool_size=1) as services:
        deletion = await act.command(services, subject.id, options)
    parts = [count(deletion.runs, "run")]
    parts += ["the batch"] if deletion.batch else []
    parts += [count(deletion.facts, "fact")] if options.with_facts else []
    print_answer(f"Deleted: {', '.join(parts)}.", deletion, as_json=as_json)


def _describe(subject: BatchSummary | RunSummary) -> str:
    if isinstance(subject, RunSummary):
        return f"run #{subject.number} “{one_line(subject.topic, chars_max=80)}” of its batch"
    runs = sum(subject.runs.values())
    return f"the batch “{one_line(subject.name, chars_max=80)}” and its {count(runs, 'run')}"


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here; say --yes to delete.")
    if not typer.confirm(question):
        raise typer.Exit(1)
