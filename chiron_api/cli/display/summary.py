"""Batches and runs as people read them: a list, a page of each, and the line that ends a watching."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chiron_api.cli.display.board import COLOURS
from chiron_api.cli.display.model_holds import holds_of_summary, print_holds
from chiron_api.text import duration, one_line, printable, usd
from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.states import RunState

SILENT = ", silent"


def closing_line(summary: BatchSummary | RunSummary) -> str:
    """How a batch or a run ended, in one line."""
    parts = [f"{summary.facts:,} facts", f"{summary.turns:,} turns"]
    parts.append(f"{summary.input_tokens:,} tokens in, {summary.output_tokens:,} out")
    parts.append(usd(summary.spent_usd))
    if summary.started_at and summary.finished_at:
        parts.append(duration((summary.finished_at - summary.started_at).total_seconds()))
    if isinstance(summary, RunSummary):
        parts += ["pruned, so its events are gone"] if summary.pruned_at else []
        parts += ["silent, since nothing new was found"] if summary.silent else []
    else:
        parts.insert(0, _counts(summary))
        parts += [f"{summary.pruned:,} pruned"] if summary.pruned else []
        parts += [f"{summary.silent:,} silent, since nothing new was found"] if summary.silent else []
    return f"{summary.state.capitalize()}: {'; '.join(parts)}."


def print_batches(batches: Sequence[BatchSummary]) -> None:
    """A line for each batch, then the models that are held."""
    _print_table(
        ("id", "state", "runs", "facts", "cost", "subject", "name"),
        [_batch_cells(batch) for batch in batches],
    )
    print_holds(holds_of_summary(hold for batch in batches for hold in batch.held))


def print_batch(batch: BatchSummary, runs: Sequence[RunSummary]) -> None:
    """The fields of a batch, then a line for each of these runs."""
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
    print_holds(holds_of_summary(batch.held))
    typer.echo()
    _print_table(("run", "state", "facts", "turns", "cost", "topic"), [_run_cells(member) for member in runs])
    if hidden_count := sum(batch.runs.values()) - len(runs):
        typer.echo(f"and {hidden_count:,} more")


def print_run(summary: RunSummary) -> None:
    """The fields of a run, its error or answer, and its evaluations."""
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
    print_holds(holds_of_summary([summary.held] if summary.held else []))
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
    final_count = sum(count for state, count in batch.runs.items() if RunState(state).is_final)
    runs = f"{final_count:,}/{sum(batch.runs.values()):,}"
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
        min_width = 36 if name in {"id", "run"} else None
        table.add_column(name, header_style="dim", overflow="ellipsis", no_wrap=True, min_width=min_width)
    for row in rows:
        table.add_row(*(Text(cell, style=COLOURS.get(cell.removesuffix(SILENT), "")) for cell in row))  # type: ignore[call-overload]
    Console().print(table)
