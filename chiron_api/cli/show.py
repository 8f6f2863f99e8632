import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chiron_api.cli import run
from chiron_api.cli.display.difference import difference_lines
from chiron_api.cli.display.fact import fact_lines
from chiron_api.cli.display.model_holds import hold_sentences, holds_of_summary
from chiron_api.cli.display.watch import COLOURS
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line, printable, usd
from chiron_api.views.batches import batch_page, difference_of
from chiron_api.views.facts import fact_page
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, newest, runs_of
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.facts.fact_details import FactDetails, load_details
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.model_holds import Hold
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import RunState

RUNS_SHOWN = 50
SILENT = ", silent"

cli = typer.Typer()
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@cli.command("list")
def list_batches(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Batches at most.")] = 20,
    as_json: Json = False,
) -> None:
    """List the batches, newest first."""
    batches = run(_newest(limit))
    if as_json:
        typer.echo(json_line(batches))
    elif not batches:
        typer.echo("There is no batch yet. `chiron submit TOPIC --subject S` makes one.")
    else:
        _print_table(
            ("id", "state", "runs", "facts", "cost", "subject", "name"),
            [_batch_cells(batch) for batch in batches],
        )
        _print_holds(holds_of_summary(hold for batch in batches for hold in batch.held))


@cli.command()
def show(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch, of a run or of a fact.")],
    as_json: Json = False,
) -> None:
    """Show one batch or run: how far it is and what it cost; or one fact: what it rests on and how sure it is."""
    page, runs, difference = run(_find(target))
    if as_json:
        typer.echo(json_line(_page(page, difference)))
    elif isinstance(page, FactDetails):
        typer.echo("\n".join(fact_lines(page)))
    elif isinstance(page, RunSummary):
        _print_run(page)
    else:
        _print_batch(page, runs)
        if difference:
            typer.echo("\nAgainst the time before")
            typer.echo("\n".join(difference_lines(difference)))


def _page(found: BatchSummary | RunSummary | FactDetails, difference: SubjectDiff | None) -> object:
    match found:
        case BatchSummary():
            return batch_page(found, difference)
        case FactDetails():
            return fact_page(found)
    return found


async def _newest(limit: int) -> list[BatchSummary]:
    async with open_pool(settings().database_url, size=2) as pool:
        return await newest(pool, limit=limit)


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


def _print_batch(batch: BatchSummary, runs: Sequence[RunSummary]) -> None:
    _print_fields(
        {
            "batch": str(batch.id),
            "name": one_line(batch.name),
            "subject": batch.subject_id,
            "state": f"{_batch_state(batch)} ({_counts(batch)})",
            "facts": f"{batch.facts:,}",
            "turns": f"{batch.turns:,}",
            "tokens": f"{batch.input_tokens:,} in, {batch.output_tokens:,} out",
            "cost": _cost(batch),
            "at once": f"{batch.concurrency:,} runs" if batch.concurrency else "no limit",
            "started": _started(batch),
            "finished": _time(batch.finished_at),
            **({"pruned": f"the journals of {batch.pruned:,} of its runs are gone"} if batch.pruned else {}),
        }
    )
    _print_holds(holds_of_summary(batch.held))
    typer.echo()
    _print_table(("run", "state", "facts", "turns", "cost", "topic"), [_run_cells(member) for member in runs])
    if hidden_count := sum(batch.runs.values()) - len(runs):
        typer.echo(f"and {hidden_count:,} more")


def _print_run(summary: RunSummary) -> None:
    _print_fields(
        {
            "run": str(summary.id),
            "batch": str(summary.batch_id),
            "topic": one_line(summary.topic, chars_max=4_000),
            "role": summary.role,
            "model": one_line(summary.model),
            "state": f"{_run_state(summary)} (attempt {summary.attempt})"
            if summary.attempt
            else _run_state(summary),
            "facts": f"{summary.facts:,}",
            "turns": f"{summary.turns:,}",
            "tokens": f"{summary.input_tokens:,} in, {summary.output_tokens:,} out",
            "cost": _cost(summary),
            "started": _started(summary),
            "finished": _time(summary.finished_at),
            **({"pruned": f"{_time(summary.pruned_at)}: its journal is gone"} if summary.pruned_at else {}),
        }
    )
    _print_holds(holds_of_summary([summary.held] if summary.held else []))
    if summary.error:
        typer.echo(f"\nFailed ({summary.error.get('kind')}): {one_line(summary.error.get('message', ''))}")
    if summary.answer:
        typer.echo(f"\n{printable(summary.answer)}")
    for evaluation in summary.evaluations:
        _print_evaluation(evaluation)


def _print_evaluation(evaluation: Mapping[str, Any]) -> None:
    at = datetime.fromisoformat(evaluation["at"])
    typer.echo(
        f"\nScored {evaluation['overall']:.2f} of 5 by {one_line(evaluation['model'])} at {_time(at)}:"
    )
    typer.echo(f"  {one_line(evaluation['text'])}")
    for score in evaluation["scores"]:
        typer.echo(
            f"  {score['score']} {one_line(score['criterion'])} (weight {score['weight']:g}): {one_line(score['reason'])}"
        )


def _print_holds(holds: Sequence[Hold]) -> None:
    for sentence in hold_sentences(holds):
        typer.echo(sentence)


def _cost(summary: BatchSummary | RunSummary) -> str:
    limits = [usd(summary.budget_usd)] if summary.budget_usd is not None else []
    limits += [f"{summary.budget_tokens:,} tokens"] if summary.budget_tokens is not None else []
    parts = [usd(summary.spent_usd) + (f" of {' and '.join(limits)}" if limits else "")]
    if summary.unconfirmed_calls:
        calls = f"{summary.unconfirmed_calls:,} call{'' if summary.unconfirmed_calls == 1 else 's'}"
        parts.append(f"up to {usd(summary.unconfirmed_usd)} unconfirmed, for {calls} whose reply is lost")
    if summary.reserved_usd:
        parts.append(f"{usd(summary.reserved_usd)} reserved for calls in flight")
    return "; ".join(parts)


def _batch_cells(batch: BatchSummary) -> tuple[str, ...]:
    finished = sum(count for state, count in batch.runs.items() if RunState(state).is_final)
    runs = f"{finished:,}/{sum(batch.runs.values()):,}"
    return (
        str(batch.id), _batch_state(batch), runs, f"{batch.facts:,}", usd(batch.spent_usd), batch.subject_id,
        one_line(batch.name),
    )  # fmt: skip


def _run_cells(summary: RunSummary) -> tuple[str, ...]:
    return (
        str(summary.id), _run_state(summary), f"{summary.facts:,}", f"{summary.turns:,}", usd(summary.spent_usd),
        one_line(summary.topic),
    )  # fmt: skip


def _batch_state(batch: BatchSummary) -> str:
    is_silent = batch.state == RunState.COMPLETED and batch.silent == sum(batch.runs.values())
    return f"{batch.state}{SILENT}" if is_silent else str(batch.state)


def _run_state(summary: RunSummary) -> str:
    return f"{summary.state}{SILENT}" if summary.silent else str(summary.state)


def _counts(batch: BatchSummary) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in batch.runs.items() if count)


def _started(summary: BatchSummary | RunSummary) -> str:
    waits = (
        summary.started_at is None and summary.finished_at is None and summary.ready_at > datetime.now(UTC)
    )
    return f"not before {_time(summary.ready_at)}" if waits else _time(summary.started_at)


def _time(at: datetime | None) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}" if at else "-"


def _print_fields(fields: dict[str, str]) -> None:
    for name, value in fields.items():
        typer.echo(f"{name:9}{value}")


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that fits the terminal; in a pipe, whole cells between tabs."""
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo("\t".join(row))
        return
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(
            name,
            header_style="dim",
            overflow="ellipsis",
            no_wrap=True,
            min_width=36 if name in {"id", "run"} else None,
        )
    for row in rows:
        table.add_row(*(Text(cell, style=COLOURS.get(cell.removesuffix(SILENT), "")) for cell in row))  # type: ignore[call-overload]
    Console().print(table)
