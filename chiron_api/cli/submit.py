import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from chiron_api.cli.input import submit_options as options
from chiron_api.cli.input.row_schema import read_schema
from chiron_api.cli.input.topics_file import Topic, TopicEntry, read_topics
from chiron_api.cli.watch import follow
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_api.views.model_keys import key_warnings
from chiron_api.views.services import service_warnings
from chiron_api.views.sources import source_warnings
from chiron_workers.access import audit
from chiron_workers.batches.duplicates import duplicate_warnings
from chiron_workers.batches.submit import NewBatch, NewRun, Submitted, check_run
from chiron_workers.batches.submit import submit as submit_batch
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import Column, read_columns
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
    dry_run: options.DryRun = False,
    watch: options.Watch = False,
    as_json: options.AsJson = False,
) -> None:
    """Submit topics to be researched, as one batch. Prints the batch's id.

    Topics come from the arguments, from a file, or from standard input when it is piped. With --columns or --schema the runs
    hand in rows, which `chiron results` prints or writes to a file.
    """
    current = settings()
    _warn(environment_warnings())
    defaults = NewRun(
        topic="",
        role=role,
        subject=subject or "",
        model=model or current.model,
        max_turns=max_turns or current.max_turns,
        priority=priority,
        budget=Budget(run_budget_usd, run_budget_tokens),
        ready_at=ready_at,
        thinking=thinking,
        effort=effort,
    )
    runs = [
        _run(entry, defaults, needs_subject=subject is None) for entry in _topic_entries(topics or [], file)
    ]
    budget = Budget(budget_usd, budget_tokens)
    batch = NewBatch(
        runs,
        subject or runs[0].subject,
        name,
        priority,
        budget,
        idempotency_key,
        concurrency,
        columns=_columns(columns, schema),
    )
    service_notes = service_warnings(current, batch.runs)
    if dry_run:
        _warn(asyncio.run(_estimate(batch, current, service_notes, as_json=as_json)))
        return
    _warn(duplicate_warnings(batch.runs))  # before the batch is stored, and with it what is paid for
    receipt, budget_notes, source_notes = asyncio.run(_submit(batch, current))
    key_notes = key_warnings(run.model or current.model for run in runs)
    _warn(
        [*budget_notes, *key_notes, *service_notes, *([] if watch else source_notes)]
    )  # `watch` says the last ones too
    _print(receipt, as_json=as_json, watch=watch)
    if watch:
        follow(str(receipt.batch_id), history=as_json, as_json=as_json)


def _columns(text: str | None, schema: Path | None) -> tuple[Column, ...]:
    if text is not None and schema is not None:
        raise UsageError("Say with --columns or with --schema which rows you ask for, not with both.")
    if schema is not None:
        return read_schema(schema)
    return () if text is None else read_columns(text)


def _topic_entries(arguments: Sequence[str], file: str | None) -> list[TopicEntry]:
    entries: list[TopicEntry] = []
    for n, text in enumerate(arguments, start=1):
        entries += read_topics("-") if text == "-" else [TopicEntry(Topic(topic=text.strip()), f"Topic {n}")]
    if file is not None:
        entries += read_topics(file)
    if not arguments and file is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("No topic is given. Name some, or give a --file, or pipe them in.")
        entries = read_topics("-")
    return entries


def _run(entry: TopicEntry, defaults: NewRun, *, needs_subject: bool) -> NewRun:
    topic = entry.topic
    if needs_subject and not topic.subject:
        raise UsageError(f"{entry.location}: say which subject the facts belong to, with --subject.")
    options = topic.model_dump(exclude={"budget_usd", "budget_tokens"})
    budget = Budget(topic.budget_usd or defaults.budget.usd, topic.budget_tokens or defaults.budget.tokens)
    own_options = {name: value for name, value in options.items() if value not in (None, "")}
    new = replace(defaults, budget=budget, **own_options)
    try:
        check_run(new)
    except UsageError as error:
        raise UsageError(f"{entry.location}: {error}") from None
    return new


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
    return forecast.warnings


async def _submit(batch: NewBatch, current: Settings) -> tuple[Submitted, list[str], list[str]]:
    """The receipt, why runs of the batch will pause at once, and why they will find no sources."""
    from chiron_workers.batches.estimates import budget_warnings
    from chiron_workers.pubsub.signals import notify

    async with open_pool(current.database_url, size=2) as pool:
        async with audit.command(pool, "batches.submit") as made:
            receipt = await submit_batch(pool, batch)
            made["batches"] = receipt.batch_id
        source_notes = await source_warnings(pool, current, batch.runs)
    await notify(current.redis_url, receipt.batch_id)
    return receipt, list(budget_warnings(batch)), source_notes


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        typer.echo(f"Warning: {warning}", err=True)


def _print(receipt: Submitted, *, as_json: bool, watch: bool) -> None:
    if as_json:
        typer.echo(json_line({"batch_id": receipt.batch_id, "run_ids": receipt.run_ids}))
    elif not sys.stdout.isatty():
        typer.echo(str(receipt.batch_id))
    else:
        topics = count(len(receipt.run_ids), "topic")
        before = f"{'was' if len(receipt.run_ids) == 1 else 'were'} submitted with this key before"
        verb = "submitted" if receipt.is_new else before
        typer.echo(f"Batch {receipt.batch_id}: {topics} {verb}.")
        if not watch:
            typer.echo(f"  chiron watch {receipt.batch_id}   follows it")
            typer.echo(f"  chiron show {receipt.batch_id}    says how far it is")
