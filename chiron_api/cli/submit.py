import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from chiron_api.acts.act import Created
from chiron_api.acts.batches import (
    BatchRequest,
    ColumnRequest,
    TopicRequest,
    column_requests,
    new_batch,
    submit_batch,
)
from chiron_api.answers.runs import SubmitReceipt
from chiron_api.cli.input import submit_options as options
from chiron_api.cli.input.options import Draft
from chiron_api.cli.input.row_schema import read_schema
from chiron_api.cli.input.topics_file import Topic, TopicEntry, read_topics
from chiron_api.cli.watch import follow
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_api.views.model_keys import key_warnings
from chiron_api.views.services import service_warnings
from chiron_api.views.sources import source_warnings
from chiron_workers.batches.estimates import budget_warnings
from chiron_workers.batches.precedents import precedents_of
from chiron_workers.batches.submit import NewBatch, check_run, is_submitted
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import read_columns
from chiron_workers.settings import Settings, settings
from chiron_workers.settings.environment import environment_warnings

cli = typer.Typer()


@cli.command()
def submit(  # noqa: PLR0913, PLR0917  # each is an option of the command
    topics: options.Topics = None,
    file: options.TopicsFile = None,
    subject: options.Subject = None,
    name: options.Name = "",
    role: options.Role = "research",
    model: options.Model = None,
    thinking: options.Thinking = None,
    effort: options.RunEffort = None,
    priority: options.Priority = 0,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    run_budget_usd: options.RunBudgetUsd = None,
    run_budget_tokens: options.RunBudgetTokens = None,
    max_turns: options.MaxTurns = None,
    concurrency: options.Concurrency = None,
    ready_at: options.ReadyAt = None,
    columns: options.Columns = None,
    schema: options.Schema = None,
    idempotency_key: options.IdempotencyKey = None,
    context: options.Context = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    watch: options.Watch = False,
    as_json: options.AsJson = False,
) -> None:
    """Submit topics to be researched, as one batch. Prints the batch's id.

    Topics come from the arguments, from a file, or from standard input when it is piped. With --columns or --schema the runs
    hand in rows, which `chiron results` prints or writes to a file.
    """
    current = settings()
    _warn(environment_warnings())
    entries = _topic_entries(topics or [], file, needs_subject=subject is None)
    values: dict[str, Any] = {
        "topics": [_topic(entry) for entry in entries],
        "subject": subject or entries[0].topic.subject,
        "name": name,
        "role": role,
        "model": model or None,
        "thinking": thinking,
        "effort": effort,
        "priority": priority,
        "max_turns": max_turns,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "run_budget_usd": run_budget_usd,
        "run_budget_tokens": run_budget_tokens,
        "concurrency": concurrency,
        "ready_at": ready_at,
        "columns": _columns(columns, schema),
        "context": context,
    }
    batch = new_batch(BatchRequest.model_construct(**values), current, idempotency_key)
    _check(batch, entries)  # before the input as a whole, since it names the line of a topic
    body = Draft(BatchRequest, values).complete()
    service_notes = service_warnings(current, batch.runs)
    if dry_run:
        _warn(asyncio.run(_estimate(batch, current, service_notes, as_json=as_json)))
        return
    can_ask = not yes and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    receipt, source_notes = asyncio.run(_submit(body, batch, current, can_ask=can_ask))
    key_notes = key_warnings(run.model or current.model for run in batch.runs)
    _warn(
        [*budget_warnings(batch), *key_notes, *service_notes, *([] if watch else source_notes)]
    )  # `watch` says the last ones too
    _print(receipt, as_json=as_json, watch=watch)
    if watch:
        follow(str(receipt.answer.batch_id), history=as_json, as_json=as_json)


def _columns(text: str | None, schema: Path | None) -> list[ColumnRequest] | None:
    if text is not None and schema is not None:
        raise UsageError("Say with --columns or with --schema which rows you ask for, not with both.")
    if schema is not None:
        return column_requests(read_schema(schema))
    return None if text is None else column_requests(read_columns(text))


def _topic_entries(arguments: Sequence[str], file: str | None, *, needs_subject: bool) -> list[TopicEntry]:
    entries: list[TopicEntry] = []
    for n, text in enumerate(arguments, start=1):
        entries += read_topics("-") if text == "-" else [TopicEntry(Topic(topic=text.strip()), f"Topic {n}")]
    if file is not None:
        entries += read_topics(file)
    if not arguments and file is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("No topic is given. Name some, or give a --file, or pipe them in.")
        entries = read_topics("-")
    if needs_subject and (nameless := next((entry for entry in entries if not entry.topic.subject), None)):
        raise UsageError(f"{nameless.location}: say which subject the facts belong to, with --subject.")
    return entries


def _topic(entry: TopicEntry) -> str | TopicRequest:
    """What is said of a topic; what is empty there is as the options have it."""
    if entry.topic.model_fields_set == {"topic"}:
        return entry.topic.topic
    members = {name: value for name, value in entry.topic if name == "topic" or value not in (None, "")}
    return TopicRequest.model_construct(**members)


def _check(batch: NewBatch, entries: Sequence[TopicEntry]) -> None:
    for entry, run in zip(entries, batch.runs, strict=True):
        try:
            check_run(run)
        except UsageError as error:
            raise UsageError(f"{entry.location}: {error}") from None


async def _estimate(
    batch: NewBatch, current: Settings, service_notes: Sequence[str], *, as_json: bool
) -> Sequence[str]:
    """Print the estimate; the warnings that it holds."""
    from chiron_api.cli.display.estimate import print_estimate
    from chiron_workers.batches.estimates import estimate

    async with open_pool(current.database_url, size=1) as pool:
        forecast = await estimate(pool, batch)
    forecast = replace(forecast, warnings=(*forecast.warnings, *service_notes))
    print_estimate(forecast, as_json=as_json)
    _note(forecast.precedents.notes())
    return forecast.warnings


async def _submit(
    body: BatchRequest, batch: NewBatch, current: Settings, *, can_ask: bool
) -> tuple[Created[SubmitReceipt], list[str]]:
    """The receipt, and why runs of the batch will find no sources."""
    async with open_services(current, pool_size=2) as services:
        if not await is_submitted(services.pool, batch):
            # Before the batch is stored, and with it what is paid for.
            precedents = await precedents_of(services.pool, batch)
            _note(precedents.notes())
            _warn(precedents.warnings())
            if can_ask and precedents.is_doubtful and not typer.confirm("Submit it?", err=True):
                typer.echo("Nothing was submitted.", err=True)
                raise typer.Exit(1)
        receipt = await submit_batch.command(services, body, batch.idempotency_key)
        return receipt, await source_warnings(services.pool, current, batch.runs)


def _note(notes: Iterable[str]) -> None:
    for note in notes:
        typer.echo(f"Note: {note}", err=True)


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        typer.echo(f"Warning: {warning}", err=True)


def _print(receipt: Created[SubmitReceipt], *, as_json: bool, watch: bool) -> None:
    batch_id, run_ids = receipt.answer.batch_id, receipt.answer.run_ids
    if as_json:
        typer.echo(json_line({"batch_id": batch_id, "run_ids": run_ids}))
    elif not sys.stdout.isatty():
        typer.echo(str(batch_id))
    else:
        topics = count(len(run_ids), "topic")
        before = f"{'was' if len(run_ids) == 1 else 'were'} submitted with this key before"
        verb = "submitted" if receipt.is_new else before
        typer.echo(f"Batch {batch_id}: {topics} {verb}.")
        if not watch:
            typer.echo(f"  chiron watch {batch_id}   follows it")
            typer.echo(f"  chiron show {batch_id}    says how far it is")
