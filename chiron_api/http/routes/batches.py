from collections.abc import AsyncIterator
from contextlib import aclosing
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from chiron_api.http.problems import Problem
from chiron_api.http.requests import Services, Wire, body, path_id, query, services
from chiron_api.http.responses import answer
from chiron_api.http.sse import follow
from chiron_api.text import as_json
from chiron_api.views.batches import batch_page, difference_of
from chiron_workers.batches.answers import results
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.batches.summaries import newest, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict
from chiron_workers.pubsub.signals import notify

Name = Annotated[str, Field(min_length=1, max_length=200)]
Usd = Annotated[Decimal, Field(gt=0)]
Tokens = Annotated[int, Field(gt=0)]


class Topic(Wire):
    """A topic that differs from the rest of its batch in something."""

    topic: Annotated[str, Field(min_length=1)]
    subject: Name | None = None
    role: Name | None = None
    model: Name | None = None
    priority: int | None = None
    max_turns: Annotated[int, Field(ge=1)] | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    ready_at: Annotated[AwareDatetime, Field(strict=True)] | None = None


class Batch(Wire):
    """What is submitted: topics, and what holds for those that say nothing else."""

    topics: Annotated[list[Annotated[str, Field(min_length=1)] | Topic], Field(min_length=1)]
    subject: Name
    name: Annotated[str, Field(max_length=200)] = ""
    role: Name = "research"
    model: Name | None = None
    priority: int = 0
    max_turns: Annotated[int, Field(ge=1)] | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    run_budget_usd: Usd | None = None
    run_budget_tokens: Tokens | None = None
    concurrency: Annotated[int, Field(ge=1)] | None = None
    ready_at: Annotated[AwareDatetime, Field(strict=True)] | None = None


class Page(Wire):
    """Which part of a list is wanted: `after` is the `next` of the page before."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: UUID | None = None


async def submit_batch(request: Request) -> Response:
    """Store a batch and tell the workers; 202. The same Idempotency-Key with the same body gives the same batch."""
    found = services(request)
    wanted = _new_batch(await body(request, Batch), found, request.headers.get("idempotency-key"))
    try:
        submitted = await submit(found.pool, wanted)
    except Conflict as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    await notify(found.settings.redis_url, submitted.batch_id)
    document = {"batch_id": submitted.batch_id, "run_ids": submitted.run_ids}
    headers = {"Location": f"/v1/batches/{submitted.batch_id}"}
    return answer(document, HTTPStatus.ACCEPTED, headers=headers)


async def list_batches(request: Request) -> Response:
    """Batches, newest first, in pages; `next` is null on the last one."""
    page = query(request, Page)
    found = await newest(services(request).pool, limit=page.limit + 1, before=page.after)
    items = found[: page.limit]
    more = items[-1].id if len(found) > page.limit else None
    return answer({"items": items, "next": more})


async def show_batch(request: Request) -> Response:
    """One batch with its runs counted by state; one of a subscription with what it has brought."""
    pool, batch_id = services(request).pool, path_id(request)
    return answer(batch_page(await summary(pool, batch_id), await difference_of(pool, batch_id)))


async def batch_results(request: Request) -> Response:
    """All runs of a batch in the order of its topics, one line of JSON each, as far as they have come."""
    found, batch_id = services(request), path_id(request)
    await summary(found.pool, batch_id)  # the id of a run is not found here
    return StreamingResponse(_lines(found, batch_id), media_type="application/jsonl")


async def _lines(found: Services, batch_id: UUID) -> AsyncIterator[str]:
    async with aclosing(results(found.pool, batch_id)) as pages:
        async for page in pages:
            yield "".join(f"{as_json(result)}\n" for result in page)


async def batch_events(request: Request) -> Response:
    """Server-sent events of all runs of a batch, from the first to `batch.completed`."""
    return await follow(request, batch_id=path_id(request))


def _new_batch(batch: Batch, found: Services, idempotency_key: str | None) -> NewBatch:
    topics = [Topic(topic=entry) if isinstance(entry, str) else entry for entry in batch.topics]
    runs = [
        NewRun(
            topic=entry.topic,
            role=entry.role or batch.role,
            subject=entry.subject or batch.subject,
            model=entry.model or batch.model or found.settings.model,
            max_turns=entry.max_turns or batch.max_turns or found.settings.max_turns,
            priority=batch.priority if entry.priority is None else entry.priority,
            budget=Budget(
                entry.budget_usd or batch.run_budget_usd, entry.budget_tokens or batch.run_budget_tokens
            ),
            ready_at=entry.ready_at or batch.ready_at,
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
    )


routes = [
    Route("/v1/batches", submit_batch, methods=["POST"]),
    Route("/v1/batches", list_batches),
    Route("/v1/batches/{id}", show_batch),
    Route("/v1/batches/{id}/results", batch_results),
    Route("/v1/batches/{id}/events", batch_events),
]
