from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.descriptions import EVENTS, EventStream
from chiron_api.http.routing import api_router
from chiron_api.http.sse import StreamOptions, event_stream

router = api_router("Runs")


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
