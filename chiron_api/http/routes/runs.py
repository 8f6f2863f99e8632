from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input, Name, Page
from chiron_api.answers.runs import Run, RunId, RunList, RunReceipt
from chiron_api.http.dependencies import IdempotencyKey, ServicesOf
from chiron_api.http.descriptions import EVENTS, EventStream, answers
from chiron_api.http.responses import json_response, page_response
from chiron_api.http.routes.batches import BatchRequest, Columns, TopicRequest, accept, new_batch
from chiron_api.http.routing import api_router
from chiron_api.http.sse import StreamOptions, event_stream
from chiron_workers.batches.summaries import RunFilter, newest_runs, run_summary
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say
from chiron_workers.states import RunState

router = api_router("Runs")


class RunRequest(TopicRequest):
    """A topic to research in a run of its own."""

    subject: Name
    columns: Columns | None = None


class RunPage(Page):
    """A page of the runs, of one batch, state or subject if it is named."""

    batch: UUID | None = None
    state: RunState | None = None
    subject: Name | None = None


class Message(Input):
    """Words for a run."""

    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]


@router.post(
    "/v1/runs",
    status_code=HTTPStatus.ACCEPTED,
    summary="Start a run",
    response_model=RunReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, located=HTTPStatus.ACCEPTED),
)
async def start_run(
    body: RunRequest, services: ServicesOf, idempotency_key: IdempotencyKey = None
) -> Response:
    """Store a run and notify the workers. The same Idempotency-Key with the same body gives the same run."""
    request = BatchRequest(topics=[body], subject=body.subject, columns=body.columns)
    receipt = await accept(new_batch(request, services, idempotency_key), services)
    document = {"batch_id": receipt.batch_id, "run_id": receipt.run_ids[0]}
    return json_response(
        document, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/runs/{receipt.run_ids[0]}"}
    )


@router.get("/v1/runs", summary="List the runs", response_model=RunList)
async def list_runs(page: Annotated[RunPage, Query()], services: ServicesOf) -> Response:
    """Runs, newest first, in pages; `next` is null on the last one. Their evaluations are left out."""
    subject_id = slug(page.subject) if page.subject else None
    which = RunFilter(page.batch, page.state, subject_id, services.principal.visible_owner)
    runs = await newest_runs(services.pool, which, limit=page.limit + 1, before=page.after)
    return page_response(runs, page.limit)


@router.get(
    "/v1/runs/{id}", summary="Show a run", response_model=Run, responses=answers(HTTPStatus.NOT_FOUND)
)
async def show_run(id: UUID, services: ServicesOf) -> Response:
    """One run with its answer or its error."""
    return json_response(await run_summary(services.pool, id))


@router.post(
    "/v1/runs/{id}/messages",
    status_code=HTTPStatus.ACCEPTED,
    summary="Say something to a run",
    response_model=RunId,
    responses=answers(
        HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED
    ),
)
async def send_message(id: UUID, message: Message, services: ServicesOf) -> Response:
    """Continue the conversation with a run; 409 if the run was cancelled."""
    if await say(services.pool, id, message.text, principal=services.principal):
        await notify(services.settings.redis_url, id)
    return json_response({"run_id": id}, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/runs/{id}"})


@router.get(
    "/v1/runs/{id}/events",
    summary="Follow a run",
    response_class=EventStream,
    responses=EVENTS,
)
async def stream_run_events(
    id: UUID, options: Annotated[StreamOptions, Query()], request: Request
) -> Response:
    """Server-sent events of a run; `id:` is the event's seq, and Last-Event-ID goes on after it."""
    return await event_stream(request, options, run_id=id)
