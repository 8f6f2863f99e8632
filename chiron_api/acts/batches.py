"""Batches: submit topics, list what was submitted and show it."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Discriminator, FailFast, Field, Tag

from chiron_api.acts.act import Created, Noun, ToolFace
from chiron_api.acts.inputs import Input, Name, Page, Positive, Time, Tokens, Usd, Whole
from chiron_api.acts.remedies import with_remedies
from chiron_api.acts.research import BATCH
from chiron_api.answers.differences import Difference
from chiron_api.answers.runs import Batch, BatchList, SubmitReceipt
from chiron_api.services import Services
from chiron_api.text import as_json
from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.precedents import Precedents, precedents_of
from chiron_workers.batches.submit import (
    CONTEXT_CHARS_MAX,
    RUNS_MAX,
    TOPIC_CHARS_MAX,
    NewBatch,
    NewRun,
    Submitted,
    check,
    submit,
)
from chiron_workers.batches.summaries import newest, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import UsageError
from chiron_workers.roles import RoleName
from chiron_workers.runs.columns import (
    COLUMNS_MAX,
    DESCRIPTION_CHARS_MAX,
    NAME_CHARS_MAX,
    Column,
    read_column,
)
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import ColumnType, Effort, ThinkingMode

BATCHES = Noun("Batches", BATCH)
RUN_OPTIONS = ("topic", "role", "subject", "model", "max_turns", "priority", "ready_at", "thinking", "effort")
PRECEDENTS = ("new_subjects", "repetitions", "earlier_answers", "similar_answers")  # as a receipt has them
BATCH_BYTES_MAX = 16 * 1024 * 1024
TopicText = Annotated[str, Field(min_length=1, max_length=TOPIC_CHARS_MAX)]
ContextText = Annotated[str, Field(max_length=CONTEXT_CHARS_MAX)]


class TopicRequest(Input):
    """A topic with options of its own; what is None comes from its batch."""

    topic: TopicText
    subject: Name | None = None
    role: RoleName | None = None
    model: Name | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: Whole | None = None
    max_turns: Positive | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    ready_at: Time | None = None
    context: Annotated[
        ContextText | None,
        Field(description="Background to this topic, in your words. Only its run gets it."),
    ] = None


class ColumnRequest(Input):
    """A column of the rows that are asked for; `description` says in words what belongs there."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
    type: ColumnType = ColumnType.TEXT
    description: Annotated[str, Field(max_length=DESCRIPTION_CHARS_MAX)] = ""


def _kind_of(value: object) -> str:
    return "(text)" if isinstance(value, str) else "(object)"


AnyTopic = Annotated[
    Annotated[TopicText, Tag("(text)")] | Annotated[TopicRequest, Tag("(object)")],
    Discriminator(_kind_of),
]
# "year", "year:int", or an object.
ColumnText = Annotated[str, Field(min_length=1, max_length=2 * NAME_CHARS_MAX)]
AnyColumn = Annotated[
    Annotated[ColumnText, Tag("(text)")] | Annotated[ColumnRequest, Tag("(object)")],
    Discriminator(_kind_of),
]
Columns = Annotated[list[AnyColumn], Field(min_length=1, max_length=COLUMNS_MAX)]
COLUMN_WORDS = 'Columns of the rows that the runs return, such as "name" and "year:int".'


class Comparison(Input):
    """The batch to compare with, of the same subject."""

    against: UUID = Field(description="The other batch; whichever ended first is the earlier one.")
    limit: Annotated[int, Field(ge=1, le=1_000)] = Field(100, description="Entries of each kind at most.")


class BatchRequest(Input):
    """Topics to submit, and the options of those that set none themselves."""

    bytes_max: ClassVar[int] = BATCH_BYTES_MAX

    # The first wrong topic is named alone: the errors of a million fill the memory.
    topics: Annotated[
        list[AnyTopic],
        Field(
            min_length=1,
            max_length=RUNS_MAX,
            description="What to find out: a question or topic for each run, as text or with options of its own.",
        ),
        FailFast(),
    ]
    subject: Annotated[Name, Field(description="Subject the facts belong to; any name.")]
    name: Annotated[
        str, Field(max_length=200, description="Name of the batch. Default: from its topics.")
    ] = ""
    role: Annotated[
        RoleName, Field(description="Which agent works on the topics: one of Chiron, or of CHIRON_ROLES.")
    ] = "research"
    model: Annotated[Name | None, Field(description="Model of the runs. Default: CHIRON_MODEL.")] = None
    thinking: Annotated[
        ThinkingMode | None, Field(description="How the model thinks. Default: CHIRON_THINKING.")
    ] = None
    effort: Annotated[
        Effort | None, Field(description="How much effort the model makes. Default: CHIRON_EFFORT.")
    ] = None
    priority: Annotated[Whole, Field(description="Higher goes first.")] = 0
    max_turns: Annotated[
        Positive | None,
        Field(description="Model replies a run may take. Default: CHIRON_MAX_TURNS."),
    ] = None
    budget_usd: Annotated[
        Usd | None, Field(description="What the whole batch may cost; it pauses there.")
    ] = None
    budget_tokens: Annotated[Tokens | None, Field(description="Tokens that the whole batch may use.")] = None
    run_budget_usd: Annotated[
        Usd | None, Field(description="What each run may cost. Default: CHIRON_RUN_BUDGET_USD.")
    ] = None
    run_budget_tokens: Annotated[Tokens | None, Field(description="Tokens that each run may use.")] = None
    concurrency: Annotated[
        Positive | None, Field(description="Runs of the batch that play at once, at most. Default: no limit.")
    ] = None
    ready_at: Annotated[
        Time | None,
        Field(description="When the runs may start, a time such as 2026-03-01T09:30Z. Default: now."),
    ] = None
    columns: Annotated[Columns | None, Field(description=COLUMN_WORDS)] = None
    context: Annotated[
        ContextText | None,
        Field(description="Background to each topic that has no context of its own; its run gets it."),
    ] = None


@BATCHES.act(
    "batches.submit",
    "POST /v1/batches",
    "Submit a batch",
    client="submit",
    faces=("POST /submit",),
    status=HTTPStatus.ACCEPTED,
    existing_status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batch_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED,),
    costs_money=True,
    tool=ToolFace(
        "start_research",
        target="batch_id",
        next_step="""
            get_run tells how far it is and what was answered; search finds the facts as they come. Topics that `warnings` name
            are each researched and paid for; cancel the batch if you did not mean that.
        """,
    ),
)
async def submit_batch(
    services: Services, body: BatchRequest, idempotency_key: str | None = None
) -> Created[SubmitReceipt]:
    """Start research that takes minutes to hours: a run for each topic finds sources and stores facts.

    The answer comes at once; facts are found by searches as they come. The same idempotency key with the same request gives
    the same batch, and starts nothing twice.
    """
    from chiron_workers.estimates.shortages import budget_warnings  # which showing help does without

    batch = await asyncio.to_thread(new_batch, body, services.settings, idempotency_key)
    await asyncio.to_thread(check, batch)
    precedents = await precedents_of(services.pool, batch, owner=services.principal.visible_owner)
    shortages = await budget_warnings(services.pool, batch)
    batch = replace(batch, precedents=_members_of(precedents, shortages))
    submission = await submit(services.pool, batch, principal=services.principal)
    await services.notify(submission.batch_id)
    return Created(await asyncio.to_thread(_receipt, submission), submission.is_new)


@BATCHES.act("batches.list", "GET /v1/batches", "List the batches", client="batches", faces=("GET /batches",))
async def list_batches(services: Services, page: Page) -> BatchList:
    """Batches, newest first, in pages; `next` is null on the last one."""
    owner = services.principal.visible_owner
    batches = await newest(services.pool, limit=page.limit + 1, before=page.after, owner=owner)
    return BatchList.model_validate(page.of([with_remedies(batch) for batch in batches]))


@BATCHES.act(
    "batches.read",
    "GET /v1/batches/{id}",
    "Show a batch",
    client="batch",
    faces=(
        "GET /batches/{id}",
        "GET /v1/batches/{id}/events",
        "GET /batches/{id}/live",
        "resource chiron://batches/{id}",
    ),
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def show_batch(services: Services, id: UUID) -> Batch:
    """One batch with its runs counted by state, its facts, tokens and cost.

    Of one that a subscription started, once it is finished, `difference` is what it has brought against the time before, up to
    20 entries of each kind.
    """
    pool = services.pool
    from chiron_api.views.batches import (  # which showing help does without
        batch_page,
        cost_to_finish_of,
        difference_of,
    )

    batch = await summary(pool, id)
    cost = await cost_to_finish_of(pool, batch)
    page = batch_page(with_remedies(batch, cost), await difference_of(pool, id), cost)
    return Batch.model_validate(page)


@BATCHES.act(
    "batches.compare",
    "GET /v1/batches/{id}/diff",
    "Compare two batches",
    client="compare",
    faces=("GET /batches/{id}/diff",),
    problems=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    is_owned=True,
)
async def compare_batches(services: Services, id: UUID, options: Comparison) -> Difference:
    """What changed in the subject of two batches between their ends; 409 if one of them is not finished."""
    from chiron_workers.knowledge.subject_diff import between_batches  # which showing help does without

    pool = services.pool
    if id == options.against:
        raise UsageError(f"Both are batch {id}; name two.")
    await require_visible(pool, options.against, services.principal.visible_owner)
    batches = [await summary(pool, id), await summary(pool, options.against)]
    earlier, later = sorted(batches, key=lambda batch: batch.finished_at or datetime.max.replace(tzinfo=UTC))
    difference = await between_batches(Session(pool), earlier.id, later.id, limit=options.limit)
    return Difference.model_validate(difference)


def new_batch(body: BatchRequest, settings: Settings, idempotency_key: str | None = None) -> NewBatch:
    """The batch to submit. Options come from the topic, then its batch, then the settings. Raises UsageError."""
    options: dict[str, Any] = {
        "role": body.role,
        "subject": body.subject,
        "model": body.model or settings.model,
        "max_turns": body.max_turns or settings.max_turns,
        "priority": body.priority,
        "budget": Budget(body.run_budget_usd, body.run_budget_tokens),
        "ready_at": body.ready_at,
        "thinking": body.thinking,
        "effort": body.effort,
        "context": _context(body.context),
    }
    runs = [
        NewRun(topic=entry, **options)
        if isinstance(entry, str)
        else NewRun(**options | _options_of(entry, options))
        for entry in body.topics
    ]
    return NewBatch(
        runs,
        body.subject,
        body.name,
        body.priority,
        Budget(body.budget_usd, body.budget_tokens),
        idempotency_key,
        body.concurrency,
        columns=tuple(_column(column) for column in body.columns or ()),
    )


def _options_of(topic: TopicRequest, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a topic sets; its budget falls back to that of the batch."""
    members = {name: value for name in RUN_OPTIONS if (value := getattr(topic, name)) is not None}
    common: Budget = options["budget"]
    budget = Budget(topic.budget_usd or common.usd, topic.budget_tokens or common.tokens)
    context = options["context"] if topic.context is None else _context(topic.context)
    return members | {"budget": budget, "context": context}


def _context(text: str | None) -> str | None:
    """The context to store; None where it is blank."""
    return (text or "").strip() or None


def column_requests(columns: Sequence[Column]) -> list[ColumnRequest]:
    """Parsed columns as fields of a request."""
    return [ColumnRequest(**asdict(column)) for column in columns]


def _column(column: str | ColumnRequest) -> Column:
    if isinstance(column, str):
        return read_column(column)
    return Column(column.name, column.type, column.description)


def _members_of(precedents: Precedents, shortages: Sequence[str]) -> dict[str, Any]:
    """Precedents as members of a receipt, in JSON; its warnings end with budgets that cannot pay one call."""
    lists: dict[str, Any] = {name: getattr(precedents, name) for name in PRECEDENTS}
    members = lists | {"warnings": [*precedents.warnings(), *shortages]}
    document: dict[str, Any] = json.loads(
        as_json({name: entries for name, entries in members.items() if entries})
    )
    return document


def _receipt(submission: Submitted) -> SubmitReceipt:
    receipt = {"batch_id": submission.batch_id, "run_ids": submission.run_ids, **submission.precedents}
    return SubmitReceipt.model_validate(receipt)
