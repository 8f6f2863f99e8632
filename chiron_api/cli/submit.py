import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

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
from chiron_api.acts.moments import Side
from chiron_api.answers.runs import SubmitReceipt
from chiron_api.cli.display.remedies import ADDS_DOCUMENTS
from chiron_api.cli.input.options import Draft, takes_input
from chiron_api.cli.input.row_schema import read_schema
from chiron_api.cli.input.times import time_option
from chiron_api.cli.input.topics_file import Topic, TopicEntry, read_topics
from chiron_api.cli.input.typed_topics import check_typed_topics
from chiron_api.cli.watch import follow
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_api.views.model_keys import key_warnings
from chiron_api.views.services import service_warnings
from chiron_api.views.sources import source_warnings
from chiron_workers.batches.precedents import precedents_of
from chiron_workers.batches.submit import NewBatch, check_run, is_submitted
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import read_columns
from chiron_workers.settings import Settings, settings
from chiron_workers.settings.environment import environment_warnings

TopicsFile = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="Topics from a file: .txt (one a line, `# ` for comments), .csv (with a column `topic`; commas, semicolons or "
        "tabs between cells), .json, .jsonl or .yaml. "
        "A topic may have its own subject, role, model, thinking, effort, priority, max_turns, budget_usd,"
        " budget_tokens, ready_at and context there.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:TYPE],...",
        help="Ask for rows with these columns, such as `name, year:int, source`. Types: text, int, float, bool, date, url.",
    ),
]

cli = typer.Typer()


@cli.command()
@takes_input(
    without=("topics", "subject", "columns"),
    context=typer.Option(
        metavar="TEXT",
        help="Background to each topic that has no context of its own in the file; its run gets it.",
    ),
    ready_at=time_option(
        side=Side.FUTURE,
        help=f"When the runs may start: {Side.FUTURE.forms}, local time unless it says Z or +02:00. Default: now.",
    ),
)
def submit(  # noqa: PLR0913  # each is an option of the command
    topics: Annotated[
        list[str] | None, typer.Argument(metavar="[TOPIC]...", help='Topics; "-" reads standard input.')
    ] = None,
    file: TopicsFile = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Subject the facts belong to; any name.")
    ] = None,
    *,
    draft: Draft[BatchRequest],
    columns: Columns = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ask for rows as this JSON schema of a row describes them: a column for each property.",
        ),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="The same key again gives the same batch; nothing is submitted twice."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and estimate the cost; submit nothing.")
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask about a new subject, nor about topics that repeat or were answered before.",
        ),
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the batch until it ends.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print batch_id and run_ids as JSON; of a dry run, the estimate."),
    ] = False,
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
        "subject": entries[0].topic.subject if subject is None else subject,
        "columns": _columns(columns, schema),
    }
    batch = new_batch(BatchRequest.model_construct(**{**draft.values, **values}), current, idempotency_key)
    _check(batch, entries)  # before the input as a whole, since it names the line of a topic
    body = draft.complete(**values)
    service_notes = service_warnings(current, batch.runs)
    if dry_run:
        _warn(asyncio.run(_estimate(batch, current, service_notes, as_json=as_json)))
        return
    can_ask = not yes and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    receipt, budget_notes, source_notes = asyncio.run(_submit(body, batch, current, can_ask=can_ask))
    key_notes = key_warnings(run.model or current.model for run in batch.runs)
    _warn(
        [*budget_notes, *key_notes, *service_notes, *([] if watch else source_notes)]
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
    check_typed_topics(arguments)
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
    from chiron_workers.estimates.new_batches import estimate

    async with open_pool(current.database_url, size=1) as pool:
        forecast = await estimate(pool, batch)
    forecast = replace(forecast, warnings=(*forecast.warnings, *service_notes))
    print_estimate(forecast, as_json=as_json)
    _note(forecast.precedents.notes())
    return forecast.warnings


async def _submit(
    body: BatchRequest, batch: NewBatch, current: Settings, *, can_ask: bool
) -> tuple[Created[SubmitReceipt], list[str], list[str]]:
    """The receipt, its warnings of budgets, and why runs of the batch will find no sources; prints the health line."""
    from chiron_api.cli.display.health_line import print_health

    warnings: list[str] = []
    async with open_services(current, pool_size=2) as services:
        if not await is_submitted(services.pool, batch):
            # Before the batch is stored and can cost money.
            precedents = await precedents_of(services.pool, batch)
            warnings = precedents.warnings()
            _note(precedents.notes())
            _warn(warnings)
            if can_ask and precedents.is_doubtful and not typer.confirm("Submit it?", err=True):
                typer.echo("Nothing was submitted.", err=True)
                raise typer.Exit(1)
        receipt = await submit_batch.command(services, body, batch.idempotency_key)
        # Scripts hear of problems alone.
        await print_health(services.pool, current, problems_only=not sys.stdout.isatty())
        # A used key gets the receipt of the first time; its warnings were printed then.
        new_warnings = receipt.answer.warnings if receipt.is_new else []
        budget_notes = [warning for warning in new_warnings if warning not in warnings]
        warnings_of_sources = await source_warnings(services.pool, current, batch.runs)
        return receipt, budget_notes, [f"{warning} {ADDS_DOCUMENTS}" for warning in warnings_of_sources]


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
