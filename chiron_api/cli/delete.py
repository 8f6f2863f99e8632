import sys
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli import run
from chiron_api.text import one_line
from chiron_workers.batches import delete as removal
from chiron_workers.batches.delete import Deletion
from chiron_workers.batches.summaries import RunSummary, find
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def delete(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    with_facts: Annotated[
        bool, typer.Option("--with-facts", help="Also delete the facts that were found first by it.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a finished run, or a batch with all of its runs, for good. The facts found stay, unless they are unwanted."""
    found_id, described = run(_describe(target))
    if not yes:
        _ask(f"Delete {described} for good{', with the facts found first by it' if with_facts else ''}?")
    removed = run(_remove(found_id, with_facts=with_facts))
    parts = [f"{removed.runs:,} {'run' if removed.runs == 1 else 'runs'}"]
    parts += ["the batch"] if removed.batch else []
    parts += [f"{removed.facts:,} {'fact' if removed.facts == 1 else 'facts'}"] if with_facts else []
    typer.echo(f"Deleted: {', '.join(parts)}.")


async def _describe(target: str) -> tuple[UUID, str]:
    async with open_pool(settings().database_url, size=1) as pool:
        found = await find(pool, target)
    if isinstance(found, RunSummary):
        return found.id, f"the run “{one_line(found.topic, chars_max=80)}”"
    runs = sum(found.runs.values())
    return found.id, f"the batch “{one_line(found.name, chars_max=80)}” and its {runs:,} runs"


async def _remove(target: UUID, *, with_facts: bool) -> Deletion:
    async with open_pool(settings().database_url, size=1) as pool:
        return await removal.delete(pool, target, with_facts=with_facts)


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here; say --yes to delete.")
    if not typer.confirm(question):
        raise typer.Exit(1)
