"""The progress of a batch or a run until its end: a board on a terminal, lines in a pipe, or JSON."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING
from uuid import UUID

import typer

from chiron_api.cli.display.events import event_line, numbered
from chiron_api.cli.display.remedies import ADDS_DOCUMENTS
from chiron_api.cli.display.standstill import Standstill
from chiron_api.cli.display.summary import closing_line
from chiron_api.text import as_json as json_line
from chiron_api.text import cost_phrase, count, facts_phrase, one_line, shorten_middle
from chiron_api.views.batches import difference_of
from chiron_api.views.differences import counts_line
from chiron_api.views.sources import source_warnings
from chiron_workers.batches.references import run_numbers
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, run_summary, runs_of, summary
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import UsageError
from chiron_workers.pubsub.beginnings import RECENT_EVENTS, Beginning
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.events import Event
from chiron_workers.settings import settings
from chiron_workers.states import EventKind, RunState

if TYPE_CHECKING:
    from chiron_api.cli.display.board import Board

FRAME_S = 0.25
RUNS_LOOKED_AT = 100  # for where they may find sources
TEXT_FOR_RUNS = 20  # nobody can read the words of more runs at once
TOPIC_CHARS = 40
TOPIC_CHARS_READ = 2_000
CTRL_C_HINT = "Ctrl+C ends the watching; the research goes on."


async def show_events(
    target: str,
    after: int | None = None,
    *,
    history: bool = False,
    as_json: bool = False,
    hint: str = CTRL_C_HINT,
) -> RunState:
    """Show the events of a batch or a run until its end; returns its final state.

    Args:
        after: Of a run: the number of the last event that is not shown.
        history: Show all that has happened, and not only what it came to and the last of it.
        hint: The line below the board, about Ctrl+C.
    """
    # The stream waits while Postgres is away; the pool's warnings would break the board.
    current = settings()
    async with open_pool(current.database_url, size=2) as pool:
        target_summary = await _find(pool, target, after)
        await _warn_without_sources(pool, target_summary)
        batch_id = target_summary.id if isinstance(target_summary, BatchSummary) else None
        runs = sum(target_summary.runs.values()) if isinstance(target_summary, BatchSummary) else 1
        is_board = sys.stdout.isatty() and not as_json
        stream = await Streams(pool, current.redis_url).open(
            batch_id=batch_id,
            run_id=None if batch_id else target_summary.id,
            after=None if after is None else str(after),
            recent=None if history else RECENT_EVENTS,
            with_text=is_board and runs <= TEXT_FOR_RUNS,
            with_runs=True,
        )
        async with stream:
            # A stream that tells all from the first event on does not begin with the runs.
            numbers = await run_numbers(pool, batch_id) if batch_id and not stream.beginning else {}
            standstill = Standstill(stream, target_summary, pool=pool, redis_url=current.redis_url)
            async with aclosing(standstill.events()) as events:
                if is_board:
                    await _draw(events, _board(target_summary, hint, stream.beginning, numbers), standstill)
                else:
                    async with standstill.told(lambda sentence, _: typer.echo(sentence, err=True)):
                        await (
                            _print_json(events, stream.beginning)
                            if as_json
                            else _print_lines(events, stream.beginning, target_summary, numbers)
                        )
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
        typer.echo(f"Warning: {warning} {ADDS_DOCUMENTS}", err=True)


async def _find(pool: Pool, target: str, after: int | None) -> BatchSummary | RunSummary:
    target_summary = await find(pool, target)
    if after is not None and isinstance(target_summary, BatchSummary):
        raise UsageError("--after is for runs: within a batch each run counts its own events.")
    return target_summary


async def _print_json(events: AsyncGenerator[Event], start: Beginning | None) -> None:
    if start:
        typer.echo(json_line(start.document()))
    async for event in events:
        typer.echo(event.to_json())


async def _print_lines(
    events: AsyncGenerator[Event],
    start: Beginning | None,
    target: BatchSummary | RunSummary,
    numbers: Mapping[UUID, int],
) -> None:
    labels: dict[UUID, str] = {}
    if isinstance(target, RunSummary):
        labels[target.id] = _label(target.number, target.topic)
    elif start:
        labels = {run.id: _label(run.number, run.topic) for run in start.runs}
    if start and start.sums.left_out:
        typer.echo(beginning_line(start))
    async for event in events:
        if event.run_id not in labels:
            labels[event.run_id] = _label(numbers.get(event.run_id, 0), str(event.data.get("topic", "")))
        label = "batch" if event.kind == EventKind.BATCH_COMPLETED else labels[event.run_id]
        typer.echo(event_line(event, label))


def _label(number: int, topic: str) -> str:
    return numbered(number, shorten_middle(one_line(topic, chars_max=TOPIC_CHARS_READ), TOPIC_CHARS))


def beginning_line(start: Beginning) -> str:
    """What something has come to so far, and how many of its events are not shown."""
    sums = start.sums
    states = ", ".join(f"{runs:,} {state}" for state, runs in sums.runs.items() if runs)
    parts = [
        states,
        facts_phrase(sums.facts, sums.confirmed, sums.cited),
        count(sums.turns, "turn"),
        cost_phrase(sums),
    ]
    return f"So far: {'; '.join(parts)}. {count(sums.left_out, 'earlier event')}: --history shows them."


async def _draw(events: AsyncGenerator[Event], board: "Board", standstill: Standstill) -> None:
    from rich.console import Console
    from rich.live import Live

    hint = board.hint

    def tell(sentence: str, is_over: bool) -> None:
        board.hint = hint if is_over else sentence

    with Live(board, console=Console(), auto_refresh=False, vertical_overflow="crop") as live:
        frames = asyncio.create_task(_refresh(live.refresh))
        try:
            async with standstill.told(tell):
                async for event in events:
                    board.apply(event)
        finally:
            frames.cancel()
            await asyncio.gather(frames, return_exceptions=True)
            board.hint = hint
            live.refresh()


async def _refresh(refresh: Callable[[], None]) -> None:
    while True:
        refresh()
        await asyncio.sleep(FRAME_S)


def _board(
    target: BatchSummary | RunSummary, hint: str, start: Beginning | None, numbers: Mapping[UUID, int]
) -> "Board":
    from chiron_api.cli.display.board import Board, Budget, Row

    title = one_line(target.name if isinstance(target, BatchSummary) else target.topic)
    budget = Budget(target.budget_usd, target.budget_tokens)
    if start:
        return Board.begin(title, start, hint=hint, budget=budget)
    rows = {} if isinstance(target, BatchSummary) else {target.id: Row(target.topic, target.number)}
    return Board(title, rows, numbers, hint=hint, budget=budget)
