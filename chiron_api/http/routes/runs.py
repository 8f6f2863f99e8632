from http import HTTPStatus
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import Wire, body, path_id, services
from chiron_api.http.responses import answer
from chiron_api.http.sse import follow
from chiron_workers.batches.summaries import run_summary
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say


class Message(Wire):
    """Words for a run."""

    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]


async def show_run(request: Request) -> Response:
    """One run with its answer or its error."""
    return answer(await run_summary(services(request).pool, path_id(request)))


async def send_message(request: Request) -> Response:
    """Continue the conversation with a run; 202, and 409 if the run was cancelled."""
    run_id = path_id(request)
    message = await body(request, Message)
    found = services(request)
    if await say(found.pool, run_id, message.text):
        await notify(found.settings.redis_url, run_id)
    return answer({"run_id": run_id}, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/runs/{run_id}"})


async def run_events(request: Request) -> Response:
    """Server-sent events of a run; `id:` is the event's seq, and Last-Event-ID goes on after it."""
    return await follow(request, run_id=path_id(request))


routes = [
    Route("/v1/runs/{id}", show_run),
    Route("/v1/runs/{id}/messages", send_message, methods=["POST"]),
    Route("/v1/runs/{id}/events", run_events),
]
