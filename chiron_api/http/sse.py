"""Progress as server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.problems import Problem
from chiron_api.http.requests import RequestModel
from chiron_workers.errors import NotFound
from chiron_workers.pubsub.tail import tail
from chiron_workers.runs.events import Event, heads

HEARTBEAT_S = 15


class StreamOptions(RequestModel):
    """Which events to send: those after the seq `after` of a run; `text` adds the model's words as they come."""

    after: Annotated[int, Field(ge=0)] = 0
    text: bool = False


async def event_stream(
    request: Request, options: StreamOptions, *, batch_id: UUID | None = None, run_id: UUID | None = None
) -> Response:
    """The events of one batch or one run, until the final one; a comment every 15 s keeps proxies from hanging up.

    An EventSource that reconnects after the end of a run gets 204, which makes it stop.
    """
    services = services_of(request)
    after = _last_event_id(request) if run_id else None
    head = await heads(services.pool, batch_id=batch_id, run_id=run_id)
    if not head.seqs:
        raise NotFound(f"There is no {'run' if run_id else 'batch'} {run_id or batch_id}.")
    if run_id and after is not None and head.is_over and after >= head.seqs[run_id]:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    source = tail(
        services.pool,
        services.settings.redis_url,
        batch_id=batch_id,
        run_id=run_id,
        after=after or options.after,
        with_text=options.text,
    )
    events = _server_sent(source, has_ids=run_id is not None)
    return EventSourceResponse(events, ping=HEARTBEAT_S, send_timeout=60)


def _last_event_id(request: Request) -> int | None:
    text = request.headers.get("last-event-id")
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise Problem(HTTPStatus.BAD_REQUEST, "Last-Event-ID must be the seq of an event, a whole number.")
    return int(text)


async def _server_sent(source: AsyncGenerator[Event], *, has_ids: bool) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(source) as events:
        async for event in events:
            # A batch has no id: each of its runs counts its own events.
            seq = str(event.seq) if has_ids and event.seq is not None else None
            yield ServerSentEvent(event.to_json(), event=event.kind, id=seq)
