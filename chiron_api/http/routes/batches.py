import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated, Any, ClassVar
from uuid import UUID

from fastapi import Query
from pydantic import Discriminator, FailFast, Field, Tag
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from chiron_api.acts.inputs import (
    Input,
    Name,
    Page,
    Positive,
    Time,
    Tokens,
    Usd,
    Whole,
)
from chiron_api.answers.basics import Receipt
from chiron_api.answers.runs import Batch, BatchList
from chiron_api.http.dependencies import IdempotencyKey, ServicesOf
from chiron_api.http.descriptions import EVENTS, RESULTS, EventStream, JsonLines, answers
from chiron_api.http.problems import Problem
from chiron_api.http.responses import json_response, page_response
from chiron_api.http.routing import api_router
from chiron_api.http.sse import StreamOptions, event_stream
from chiron_api.services import Services
from chiron_api.views.batches import batch_page, difference_of
from chiron_workers.batches.answers import result_lines
from chiron_workers.batches.duplicates import duplicate_warnings
from chiron_workers.batches.submit import RUNS_MAX, TOPIC_CHARS_MAX, NewBatch, NewRun, Submitted, submit
from chiron_workers.batches.summaries import newest, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.columns import (
    COLUMNS_MAX,
    DESCRIPTION_CHARS_MAX,
    NAME_CHARS_MAX,
    Column,
    read_column,
)
from chiron_workers.states import ColumnType, Effort, ThinkingMode

router = api_router("Batches")

BATCH_BYTES_MAX = 16 * 1024 * 1024
TopicText = Annotated[str, Field(min_length=1, max_length=TOPIC_CHARS_MAX)]


class TopicRequest(Input):
    """A topic with options of its own; what is None comes from its batch."""

    topic: TopicText
    subject: Name | None = None
    role: Name | None = None
    model: Name | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: Whole | None = None
    max_turns: Positive | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    ready_at: Time | None = None


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


class BatchRequest(Input):
    """Topics to submit, and the options of those that set none themselves."""

    bytes_max: ClassVar[int] = BATCH_BYTES_MAX

    # The first wrong topic is named alone: the errors of a million fill the memory.
    topics: Annotated[list[AnyTopic], Field(min_length=1, max_length=RUNS_MAX), FailFast()]
    subject: Name
    name: Annotated[str, Field(max_length=200)] = ""
    role: Name = "research"
    model: Name | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: Whole = 0
    max_turns: Positive | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    run_budget_usd: Usd | None = None
    run_budget_tokens: Tokens | None = None
    concurrency: Positive | None = None
    ready_at: Time | None = None
    columns: Columns | None = None


@router.post(
    "/v1/batches",
    status_code=HTTPStatus.ACCEPTED,
    summary="Submit a batch",
    response_model=Receipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, located=HTTPStatus.ACCEPTED),
)
async def submit_batch(
    body: BatchRequest, services: ServicesOf, idempotency_key: IdempotencyKey = None
) -> Response:
    """Store a batch and notify the workers; 202. The same Idempotency-Key with the same body gives the same batch."""
    batch = await asyncio.to_thread(new_batch, body, services, idempotency_key)
    receipt = await accept(batch, services)
    document: dict[str, Any] = {"batch_id": receipt.batch_id, "run_ids": receipt.run_ids}
    if warnings := await asyncio.to_thread(duplicate_warnings, batch.runs):
        document["warnings"] = warnings
    headers = {"Location": f"/v1/batches/{receipt.batch_id}"}
    # Beside the event loop: it may be the ids of 100,000 runs.
    return await asyncio.to_thread(json_response, document, HTTPStatus.ACCEPTED, headers=headers)


@router.get("/v1/batches", summary="List the batches", response_model=BatchList)
async def list_batches(page: Annotated[Page, Query()], services: ServicesOf) -> Response:
    """Batches, newest first, in pages; `next` is null on the last one."""
    owner = services.principal.visible_owner
    batches = await newest(services.pool, limit=page.limit + 1, before=page.after, owner=owner)
    return page_response(batches, page.limit)


@router.get(
    "/v1/batches/{id}", summary="Show a batch", response_model=Batch, responses=answers(HTTPStatus.NOT_FOUND)
)
async def show_batch(id: UUID, services: ServicesOf) -> Response:
    """One batch with its runs counted by state; one of a subscription with what it changed."""
    pool = services.pool
    return json_response(batch_page(await summary(pool, id), await difference_of(pool, id)))


@router.get(
    "/v1/batches/{id}/results",
    summary="List the results of a batch",
    response_class=JsonLines,
    responses=answers(HTTPStatus.NOT_FOUND) | RESULTS,
)
async def list_batch_results(id: UUID, services: ServicesOf) -> Response:
    """All runs of a batch in the order of its topics, one line of JSON each, as far as they have come."""
    await summary(services.pool, id)  # 404 for the id of a run
    return StreamingResponse(_lines(services, id), media_type="application/jsonl")


async def accept(batch: NewBatch, services: Services) -> Submitted:
    """Store a batch and notify the workers. Raises Problem 422 for a key that was used with another body."""
    try:
        receipt = await submit(services.pool, batch, principal=services.principal)
    except Conflict as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    await notify(services.settings.redis_url, receipt.batch_id)
    return receipt


async def _lines(services: Services, batch_id: UUID) -> AsyncIterator[str]:
    async with aclosing(result_lines(services.pool, batch_id)) as pages:
        async for page in pages:
            yield page


@router.get(
    "/v1/batches/{id}/events",
    summary="Follow a batch",
    response_class=EventStream,
    responses=EVENTS,
)
async def stream_batch_events(
    id: UUID, options: Annotated[StreamOptions, Query()], request: Request
) -> Response:
    """Server-sent events of all runs of a batch, from the first to `batch.completed`."""
    return await event_stream(request, options, batch_id=id)


def new_batch(batch: BatchRequest, services: Services, idempotency_key: str | None) -> NewBatch:
    """What a body asks for."""
    topics = [TopicRequest(topic=entry) if isinstance(entry, str) else entry for entry in batch.topics]
    runs = [
        NewRun(
            topic=entry.topic,
            role=entry.role or batch.role,
            subject=entry.subject or batch.subject,
            model=entry.model or batch.model or services.settings.model,
            max_turns=entry.max_turns or batch.max_turns or services.settings.max_turns,
            priority=batch.priority if entry.priority is None else entry.priority,
            budget=Budget(
                entry.budget_usd or batch.run_budget_usd, entry.budget_tokens or batch.run_budget_tokens
            ),
            ready_at=entry.ready_at or batch.ready_at,
            thinking=entry.thinking or batch.thinking,
            effort=entry.effort or batch.effort,
        )
        for entry in topics
    ]
    return NewBatch(
        runs,
        batch.subject,
        batch.name,
        batch.priority,
        Budget(batch.budget_usd, batch.budget_tokens),
        idempotency_key,
        batch.concurrency,
        columns=tuple(_column(column) for column in batch.columns or ()),
    )


def _column(column: str | ColumnRequest) -> Column:
    if isinstance(column, str):
        return read_column(column)
    return Column(column.name, column.type, column.description)
