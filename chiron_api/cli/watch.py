import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from chiron_api.cli.display.board import CTRL_C_HINT, Board, Row
from chiron_api.cli.display.difference import counts_line
from chiron_api.cli.display.events import event_line
from chiron_api.cli.display.summary import closing_line
from chiron_api.text import one_line
from chiron_api.views.batches import difference_of
from chiron_api.views.sources import source_warnings
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, run_summary, runs_of, summary
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.events import Event
from chiron_workers.settings import settings
from chiron_workers.states import EventKind, RunState

FRAME_S = 0.25
RUNS_LOOKED_AT = 100  # for where they may find sources
TEXT_FOR_RUNS = 20  # nobody can read the words of more runs at once

cli = typer.Typer()


@cli.command()
def watch(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    after: Annotated[
        int | None, typer.Option(min=0, help="Of a run: leave out the events up to this number.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as one line of JSON.")] = False,
) -> None:
    """Follow a batch or a run until it ends: first what has happened so far, then everything as it happens.

    Ctrl+C ends only the watching. Exit code: 0 if all runs completed, 1 if one failed or was
    cancelled, and if there is no such batch.
    """
    follow(target, after=after, as_json=as_json)


def follow(target: str, *, after: int | None = None, as_json: bool = False) -> None:
    """Watch until the end, then exit: 0 if all runs completed, 1 if not, 130 after Ctrl+C."""
    try:
        state = asyncio.run(show_events(target, after, as_json=as_json))
    except KeyboardInterrupt:
        typer.echo(
            f"Stopped watching; the research goes on. `chiron watch {target}` follows it again.", err=True
        )
        raise typer.Exit(130) from None
    raise typer.Exit(0 if state == RunState.COMPLETED else 1)


async def show_events(
    target: str, after: int | None = None, *, as_json: bool = False, hint: str = CTRL_C_HINT
) -> RunState:
    """Show the events of a batch or a run until its end; returns its final state.

    Args:
        hint: The line below the board, about Ctrl+C.
    """
    from chiron_workers.pubsub.tail import tail

    # The tail waits while Postgres is away; the pool's warnings would break the board.
    current = settings()
    async with open_pool(current.database_url, size=2) as pool:
        target_summary = await _find(pool, target, after)
        await _warn_without_sources(pool, target_summary)
        console = Console()
        batch_id = target_summary.id if isinstance(target_summary, BatchSummary) else None
        runs = sum(target_summary.runs.values()) if isinstance(target_summary, BatchSummary) else 1
        source = tail(
            pool,
            current.redis_url,
            batch_id=batch_id,
            run_id=None if batch_id else target_summary.id,
            after=after or 0,
            with_text=console.is_terminal and not as_json and runs <= TEXT_FOR_RUNS,
        )
        async with aclosing(source) as events:
            if as_json:
                await _print_json(events)
            elif console.is_terminal:
                await _draw(events, _board(target_summary, hint), console)
            else:
                await _print_lines(events, target_summary)
        final = await (summary(pool, target_summary.id) if batch_id else run_summary(pool, target_summary.id))
        difference = await difference_of(pool, batch_id) if batch_id else None
    if not as_json:
        typer.echo(closing_line(final))
    if difference and not as_json:
        typer.echo(f"Against the time before: {counts_line(difference.counts)}.")
    return final.state


async def _warn_without_sources(pool: Pool, target: BatchSummary | RunSummary) -> None:
    if target.state.is_final:
        return
    runs = (
        [target] if isinstance(target, RunSummary) else await runs_of(pool, target.id, limit=RUNS_LOOKED_AT)
    )
    for warning in await source_warnings(pool, settings(), runs):
        typer.echo(f"Warning: {warning}", err=True)


async def _find(pool: Pool, target: str, after: int | None) -> BatchSummary | RunSummary:
    target_summary = await find(pool, target)
    if after is not None and isinstance(target_summary, BatchSummary):
        raise UsageError("--after is for runs: within a batch each run counts its own events.")
    return target_summary


async def _print_json(events: AsyncIterator[Event]) -> None:
    async for event in events:
        typer.echo(event.to_json())


async def _print_lines(events: AsyncIterator[Event], summary: BatchSummary | RunSummary) -> None:
    labels = {} if isinstance(summary, BatchSummary) else {summary.id: one_line(summary.topic, chars_max=40)}
    async for event in events:
        if event.run_id not in labels:
            topic = one_line(str(event.data.get("topic", "")), chars_max=40)
            labels[event.run_id] = f"#{len(labels) + 1} {topic}"
        label = "batch" if event.kind == EventKind.BATCH_COMPLETED else labels[event.run_id]
        typer.echo(event_line(event, label))


async def _draw(events: AsyncIterator[Event], board: Board, console: Console) -> None:
    with Live(board, console=console, auto_refresh=False, vertical_overflow="crop") as live:
        frames = asyncio.create_task(_refresh(live))
        try:
            async for event in events:
                board.apply(event)
        finally:
            frames.cancel()
            await asyncio.gather(frames, return_exceptions=True)
            live.refresh()


async def _refresh(live: Live) -> None:
    while True:
        live.refresh()
        await asyncio.sleep(FRAME_S)


def _board(summary: BatchSummary | RunSummary, hint: str) -> Board:
    if isinstance(summary, BatchSummary):
        return Board(one_line(summary.name), hint=hint)
    return Board(one_line(summary.topic), {summary.id: Row(summary.topic)}, hint=hint)
