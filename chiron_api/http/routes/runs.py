from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.client.models.runs import Run, RunId
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import EVENTS, EventStream, answers
from chiron_api.http.requests import RequestModel
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.http.sse import StreamOptions, event_stream
from chiron_workers.batches.summaries import run_summary
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say

router = api_router("Runs")


class Message(RequestModel):
    """Words for a run."""

    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]


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
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def send_message(id: UUID, message: Message, services: ServicesOf) -> Response:
    """Continue the conversation with a run; 409 if the run was cancelled."""
    if await say(services.pool, id, message.text):
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
