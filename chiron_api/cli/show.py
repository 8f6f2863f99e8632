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
from chiron_api.cli.display.difference import lines as difference_lines
from chiron_api.cli.display.fact import lines
from chiron_api.cli.display.model_holds import from_summary, sentences
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
    found = run(_newest(limit))
    if as_json:
        typer.echo(json_line(found))
    elif not found:
        typer.echo("There is no batch yet. `chiron submit TOPIC --subject S` makes one.")
    else:
        _print_table(
            ("id", "state", "runs", "facts", "cost", "subject", "name"),
            [_batch_cells(batch) for batch in found],
        )
        _print_held(from_summary(one for batch in found for one in batch.held))


@cli.command()
def show(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch, of a run or of a fact.")],
    as_json: Json = False,
) -> None:
    """Show one batch or run: how far it is and what it cost; or one fact: what it rests on and how sure it is."""
    found, runs, difference = run(_find(target))
    if as_json:
        typer.echo(json_line(_page(found, difference)))
    elif isinstance(found, FactDetails):
        typer.echo("\n".join(lines(found)))
    elif isinstance(found, RunSummary):
        _print_run(found)
    else:
        _print_batch(found, runs)
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
            found = await find(pool, target)
        except NotFound:
            return await _fact(pool, target), [], None
        if isinstance(found, RunSummary):
            return found, [], None
        runs = await runs_of(pool, found.id, limit=RUNS_SHOWN)
        return found, runs, await difference_of(pool, found.id)


async def _fact(pool: Pool, target: str) -> FactDetails:
    try:
        return await load_details(Session(pool), UUID(target))
    except NotFound:
        raise NotFound(
            f"No batch, no run and no fact has the id {target}. `chiron list` shows the batches."
        ) from None


def _print_batch(found: BatchSummary, runs: Sequence[RunSummary]) -> None:
    _print_fields(
        {
            "batch": str(found.id),
            "name": one_line(found.name),
            "subject": found.subject_id,
            "state": f"{_batch_state(found)} ({_counts(found)})",
            "facts": f"{found.facts:,}",
            "turns": f"{found.turns:,}",
            "tokens": f"{found.input_tokens:,} in, {found.output_tokens:,} out",
            "cost": _cost(found),
            "at once": f"{found.concurrency:,} runs" if found.concurrency else "no limit",
            "started": _started(found),
            "finished": _time(found.finished_at),
            **({"pruned": f"the journals of {found.pruned:,} of its runs are gone"} if found.pruned else {}),
        }
    )
    _print_held(from_summary(found.held))
    typer.echo()
    _print_table(("run", "state", "facts", "turns", "cost", "topic"), [_run_cells(one) for one in runs])
    if hidden := sum(found.runs.values()) - len(runs):
        typer.echo(f"and {hidden:,} more")


def _print_run(found: RunSummary) -> None:
    _print_fields(
        {
            "run": str(found.id),
            "batch": str(found.batch_id),
            "topic": one_line(found.topic, chars_max=4_000),
            "role": found.role,
            "model": one_line(found.model),
            "state": f"{_run_state(found)} (attempt {found.attempt})" if found.attempt else _run_state(found),
            "facts": f"{found.facts:,}",
            "turns": f"{found.turns:,}",
            "tokens": f"{found.input_tokens:,} in, {found.output_tokens:,} out",
            "cost": _cost(found),
            "started": _started(found),
            "finished": _time(found.finished_at),
            **({"pruned": f"{_time(found.pruned_at)}: its journal is gone"} if found.pruned_at else {}),
        }
    )
    _print_held(from_summary([found.held] if found.held else []))
    if found.error:
        typer.echo(f"\nFailed ({found.error.get('kind')}): {one_line(found.error.get('message', ''))}")
    if found.answer:
        typer.echo(f"\n{printable(found.answer)}")
    for evaluation in found.evaluations:
        _print_evaluation(evaluation)


def _print_evaluation(found: Mapping[str, Any]) -> None:
    at = datetime.fromisoformat(found["at"])
    typer.echo(f"\nScored {found['overall']:.2f} of 5 by {one_line(found['model'])} at {_time(at)}:")
    typer.echo(f"  {one_line(found['text'])}")
    for score in found["scores"]:
        typer.echo(
            f"  {score['score']} {one_line(score['criterion'])} (weight {score['weight']:g}): {one_line(score['reason'])}"
        )


def _print_held(held: Sequence[Hold]) -> None:
    for sentence in sentences(held):
        typer.echo(sentence)


def _cost(found: BatchSummary | RunSummary) -> str:
    limits = [usd(found.budget_usd)] if found.budget_usd is not None else []
    limits += [f"{found.budget_tokens:,} tokens"] if found.budget_tokens is not None else []
    parts = [usd(found.spent_usd) + (f" of {' and '.join(limits)}" if limits else "")]
    if found.unconfirmed_calls:
        calls = f"{found.unconfirmed_calls:,} call{'' if found.unconfirmed_calls == 1 else 's'}"
        parts.append(f"up to {usd(found.unconfirmed_usd)} unconfirmed, for {calls} whose reply is lost")
    if found.reserved_usd:
        parts.append(f"{usd(found.reserved_usd)} reserved for calls in flight")
    return "; ".join(parts)


def _batch_cells(found: BatchSummary) -> tuple[str, ...]:
    done = (
        f"{sum(found.runs.values()) - found.runs['queued'] - found.runs['running'] - found.runs['paused']:,}"
    )
    runs = f"{done}/{sum(found.runs.values()):,}"
    return (
        str(found.id), _batch_state(found), runs, f"{found.facts:,}", usd(found.spent_usd), found.subject_id,
        one_line(found.name),
    )  # fmt: skip


def _run_cells(found: RunSummary) -> tuple[str, ...]:
    return (
        str(found.id), _run_state(found), f"{found.facts:,}", f"{found.turns:,}", usd(found.spent_usd), one_line(found.topic),
    )  # fmt: skip


def _batch_state(found: BatchSummary) -> str:
    is_silent = found.state == RunState.COMPLETED and found.silent == sum(found.runs.values())
    return f"{found.state}{SILENT}" if is_silent else str(found.state)


def _run_state(found: RunSummary) -> str:
    return f"{found.state}{SILENT}" if found.silent else str(found.state)


def _counts(found: BatchSummary) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in found.runs.items() if count)


def _started(found: BatchSummary | RunSummary) -> str:
    waits = found.started_at is None and found.finished_at is None and found.ready_at > datetime.now(UTC)
    return f"not before {_time(found.ready_at)}" if waits else _time(found.started_at)


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
