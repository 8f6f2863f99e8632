from http import HTTPStatus
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, path_id, read_body, services_of
from chiron_api.http.responses import json_response
from chiron_api.http.sse import event_stream
from chiron_workers.batches.summaries import run_summary
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say


class Message(RequestModel):
    """Words for a run."""

    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]


async def show_run(request: Request) -> Response:
    """One run with its answer or its error."""
    return json_response(await run_summary(services_of(request).pool, path_id(request)))


async def send_message(request: Request) -> Response:
    """Continue the conversation with a run; 202, and 409 if the run was cancelled."""
    run_id = path_id(request)
    message = await read_body(request, Message)
    services = services_of(request)
    if await say(services.pool, run_id, message.text):
        await notify(services.settings.redis_url, run_id)
    return json_response({"run_id": run_id}, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/runs/{run_id}"})


async def run_events(request: Request) -> Response:
    """Server-sent events of a run; `id:` is the event's seq, and Last-Event-ID goes on after it."""
    return await event_stream(request, run_id=path_id(request))


routes = [
    Route("/v1/runs/{id}", show_run),
    Route("/v1/runs/{id}/messages", send_message, methods=["POST"]),
    Route("/v1/runs/{id}/events", run_events),
]
