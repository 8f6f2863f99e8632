"""Batches and runs as people read them: a list, a page of each, and the line that ends a watching."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import typer

from chiron_api.cli.display.colours import COLOURS
from chiron_api.cli.display.model_holds import holds_of_summary, print_holds
from chiron_api.cli.display.remedies import lines_of_problem
from chiron_api.text import (
    cost_of,
    cost_phrase,
    count,
    duration,
    facts_phrase,
    local_time,
    one_line,
    printable,
    services_phrase,
    span,
    tokens,
    tokens_by_name,
    usd,
)
from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.states import RunState

SILENT, NOTHING_FOUND = ", silent", ", nothing found"
WORDS = ("subject", "name", "topic")  # columns that may be cropped
FIGURES = ("runs", "facts", "turns", "cost")


def closing_line(summary: BatchSummary | RunSummary) -> str:
    """How a batch or a run ended, in one line."""
    parts = [facts_phrase(summary.facts, summary.confirmed, summary.cited), count(summary.turns, "turn")]
    parts.append(f"tokens: {tokens(summary)}")
    parts.append(cost_phrase(summary))
    if summary.started_at and summary.finished_at:
        parts.append(duration((summary.finished_at - summary.started_at).total_seconds()))
    if isinstance(summary, RunSummary):
        parts += [_reason(summary.state, summary.error).removesuffix(".")] if summary.error else []
        parts += ["pruned, so its events are gone"] if summary.pruned_at else []
        parts += ["silent, since nothing new was found"] if summary.silent else []
        parts += ["nothing found"] if summary.nothing_found else []
    else:
        parts.insert(0, _counts(summary))
        parts += [_reason_of_runs(reason).removesuffix(".") for reason in summary.reasons]
        parts += [f"{summary.pruned:,} pruned"] if summary.pruned else []
        parts += [f"{summary.silent:,} silent, since nothing new was found"] if summary.silent else []
        parts += [f"{summary.nothing_found:,} found nothing"] if summary.nothing_found else []
    return f"{summary.state.capitalize()}: {'; '.join(parts)}."


def print_batches(batches: Sequence[BatchSummary], short_ids: Mapping[UUID, str]) -> None:
    """A line for each batch, then the models that are held."""
    _print_table(
        ("id", "state", "runs", "facts", "cost", "subject", "name"),
        [_batch_cells(batch) for batch in batches],
        short_ids,
    )
    for batch in batches:
        for reason in batch.reasons if sys.stdout.isatty() else ():
            typer.echo(f"{short_ids[batch.id]}: {_reason_of_runs(reason)}")
    print_holds(holds_of_summary(hold for batch in batches for hold in batch.held))


def print_batch(
    batch: BatchSummary, runs: Sequence[RunSummary], *, run_count: int, has_amount: bool = False
) -> None:
    """The fields of a batch, then a line for each of these runs, which are the first of so many.

    `has_amount`: a line that follows has the budget that lets them finish.

    A line begins with the number of its run; in a pipe with its id, and ends with the number.
    """
    _print_fields(
        {
            "batch": str(batch.id),
            "name": one_line(batch.name),
            "subject": batch.subject_id,
            "state": f"{_batch_state(batch)} ({_counts(batch)})",
            **(
                {"nothing": f"found by {count(batch.nothing_found, 'completed run')}"}
                if batch.nothing_found
                else {}
            ),
            "facts": facts_phrase(batch.facts, batch.confirmed, batch.cited),
            "turns": f"{batch.turns:,}",
            "tokens": tokens(batch),
            "cost": _cost(batch),
            **_services(batch),
            "at once": count(batch.concurrency, "run") if batch.concurrency else "no limit",
            "started": _started(batch),
            "finished": _time(batch.finished_at),
            **(
                {"pruned": f"{count(batch.pruned, 'journal is', 'journals are')} gone"}
                if batch.pruned
                else {}
            ),
        }
    )
    print_holds(holds_of_summary(batch.held))
    for reason in batch.reasons:
        _print_lines(_reason_of_runs(reason), *lines_of_problem(reason, has_amount=has_amount))
    typer.echo()
    columns = ("run", "state", "facts", "turns", "cost", "topic")
    _print_table(columns, [_run_cells(member) for member in runs], {run.id: f"#{run.number}" for run in runs})
    if hidden_count := run_count - len(runs):
        typer.echo(f"and {hidden_count:,} more")


def print_run(
    summary: RunSummary, *, has_amount: bool = False, times: Mapping[str, float] | None = None
) -> None:
    """The fields of a run, its error with what helps or its answer, and its evaluations; `has_amount` as of a batch.

    Args:
        times: Seconds by activity of the run.
    """
    _print_fields(
        {
            "run": f"{summary.id} (#{summary.number} of its batch)",
            "batch": str(summary.batch_id),
            "topic": one_line(summary.topic, chars_max=4_000),
            **({"context": one_line(summary.context, chars_max=8_000)} if summary.context else {}),
            "role": summary.role,
            "model": one_line(summary.model),
            "state": f"{_run_state(summary)} (attempt {summary.attempt})"
            if summary.attempt
            else _run_state(summary),
            "facts": facts_phrase(summary.facts, summary.confirmed, summary.cited),
            "turns": f"{summary.turns:,}",
            "tokens": tokens(summary),
            "cost": _cost(summary),
            **_services(summary),
            **({"time": _times(times)} if times else {}),
            "started": _started(summary),
            "finished": _time(summary.finished_at),
            **({"pruned": f"{_time(summary.pruned_at)}: its journal is gone"} if summary.pruned_at else {}),
        }
    )
    print_holds(holds_of_summary([summary.held] if summary.held else []))
    if summary.error:
        _print_lines("", _reason(summary.state, summary.error))
        if summary.state in (RunState.FAILED, RunState.PAUSED):
            _print_lines(*lines_of_problem(summary.error, has_amount=has_amount))
    if summary.answer:
        typer.echo(f"\n{printable(summary.answer)}")
    for evaluation in summary.evaluations:
        _print_evaluation(evaluation)


def _print_lines(*lines: str) -> None:
    for line in lines:
        typer.echo(line)


def _times(times: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {span(seconds)}" for name, seconds in times.items())


def _reason(state: str, error: Mapping[str, Any]) -> str:
    return f"{state.capitalize()} {_cause(error)}."


def _cause(error: Mapping[str, Any]) -> str:
    """Why something failed or paused, without the full stop."""
    message = one_line(str(error.get("message") or ""), chars_max=600).removesuffix(".")
    return f"({one_line(str(error.get('kind')))}): {message}"


def _reason_of_runs(reason: Mapping[str, Any]) -> str:
    runs = f"{reason['runs']:,} run{'' if reason['runs'] == 1 else 's'}"
    return f"{runs} {reason['state']} {_cause(reason)}."


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
    parts = [cost_of(summary) + (f" of {usd(summary.budget_usd)}" if summary.budget_usd is not None else "")]
    if summary.budget_tokens is not None:
        parts.append(f"{sum(tokens_by_name(summary).values()):,} of {summary.budget_tokens:,} tokens")
    if summary.unconfirmed_calls:
        calls = f"{summary.unconfirmed_calls:,} call{'' if summary.unconfirmed_calls == 1 else 's'}"
        amount = (
            "an unknown amount"
            if summary.unconfirmed_usd is None
            else f"up to {usd(summary.unconfirmed_usd)}"
        )
        parts.append(f"{amount} unconfirmed, for {calls} whose reply is lost")
    if summary.reserved_usd:
        parts.append(f"{usd(summary.reserved_usd)} reserved for calls in flight")
    return "; ".join(parts)


def _services(summary: BatchSummary | RunSummary) -> dict[str, str]:
    phrase = services_phrase(summary)
    return {"services": f"{phrase}, for embeddings and searches"} if phrase else {}


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
        one_line(summary.topic), f"#{summary.number}",
    )  # fmt: skip


def _batch_state(batch: BatchSummary) -> str:
    is_completed, runs = batch.state == RunState.COMPLETED, sum(batch.runs.values())
    if is_completed and batch.silent == runs:
        return f"{batch.state}{SILENT}"
    return f"{batch.state}{NOTHING_FOUND * (is_completed and batch.nothing_found == runs)}"


def _run_state(summary: RunSummary) -> str:
    return f"{summary.state}{SILENT if summary.silent else NOTHING_FOUND * summary.nothing_found}"


def _counts(batch: BatchSummary) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in batch.runs.items() if count)


def _started(summary: BatchSummary | RunSummary) -> str:
    waits = (
        summary.started_at is None and summary.finished_at is None and summary.ready_at > datetime.now(UTC)
    )
    return f"not before {_time(summary.ready_at)}" if waits else _time(summary.started_at)


def _time(at: datetime | None) -> str:
    return local_time(at) if at else "-"


def _print_fields(fields: dict[str, str]) -> None:
    for name, value in fields.items():
        typer.echo(f"{name:9}{value}")


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], names: Mapping[UUID, str]) -> None:
    """A table that fits the terminal, with names for the ids in its first column; in a pipe, whole cells between tabs.

    Cells beyond the columns are for pipes alone.
    """
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, expand=True)
    table_rows = [(names[UUID(row[0])], *row[1 : len(columns)]) for row in rows]
    for name in columns:
        # Words share what figures leave.
        table.add_column(
            name,
            header_style="dim",
            overflow="ellipsis",
            no_wrap=True,
            ratio=1 if name in WORDS else None,
            justify="right" if name in FIGURES else "left",
        )
    for row in table_rows:
        table.add_row(*(Text(cell, style=COLOURS.get(cell.partition(",")[0], "")) for cell in row))  # type: ignore[call-overload]
    Console().print(table)
