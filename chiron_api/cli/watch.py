import asyncio
from typing import Annotated

import typer

from chiron_workers.errors import UsageError
from chiron_workers.states import RunState

cli = typer.Typer()


@cli.command()
def watch(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    after: Annotated[
        int | None, typer.Option(min=0, help="Of a run: leave out the events up to this number.")
    ] = None,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Show all events there were, each run's in order; of many runs, pages of them follow each other.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as one line of JSON.")] = False,
) -> None:
    """Follow a batch or a run until it ends: what it has come to and its last 50 events, then everything as it happens.

    Ctrl+C ends only the watching. With --json the first line is a snapshot, whose sums count what came before. While all
    is paused, or Postgres is away, a line on standard error says so. Exit code: 0 if all runs completed, 1 if one failed or
    was cancelled, and if there is no such batch.
    """
    if history and after is not None:
        raise UsageError(
            "--after says where to begin, --history begins with the first event; take one of them."
        )
    follow(target, after=after, history=history, as_json=as_json)


def follow(target: str, *, after: int | None = None, history: bool = False, as_json: bool = False) -> None:
    """Watch until the end, then exit: 0 if all runs completed, 1 if not, 130 after Ctrl+C."""
    from chiron_api.cli.display.progress import show_events
    from chiron_api.cli.display.remedies import pasteable

    try:
        state = asyncio.run(show_events(target, after, history=history, as_json=as_json))
    except KeyboardInterrupt:
        typer.echo(
            f"Stopped watching; the research goes on. {pasteable('watch', target)} follows it again.",
            err=True,
        )
        raise typer.Exit(130) from None
    raise typer.Exit(0 if state == RunState.COMPLETED else 1)
