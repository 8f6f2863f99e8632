"""Progress as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from sse_starlette import ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import admit_stream, services_of
from chiron_api.http.open_streams import StreamResponse
from chiron_api.http.problems import Problem
from chiron_api.text import as_json
from chiron_workers.errors import UsageError
from chiron_workers.pubsub.beginnings import RECENT_EVENTS
from chiron_workers.pubsub.cursors import TEXT_MAX
from chiron_workers.pubsub.feeds import StreamedEvent
from chiron_workers.pubsub.streams import Stream
from chiron_workers.states import EventKind


class StreamOptions(Input):
    """Which events to send: those after the one with the id `after`, or with `history` all of them; else a snapshot comes
    first, and the last 50 events. `text` adds the model's words as they come.
    """

    after: Annotated[str | None, Field(max_length=TEXT_MAX)] = None
    history: bool = False
    text: bool = False


async def event_stream(
    request: Request, options: StreamOptions, *, batch_id: UUID | None = None, run_id: UUID | None = None
) -> Response:
    """The events of one batch or one run, until the final one; a comment every 15 s keeps proxies from hanging up.

    Goes on after the event whose id `Last-Event-ID` or `?after=` names, or begins with what it has come to so far and the
    last events; all of them come where `history` asks for it. An EventSource that reconnects after the end gets 204, which
    makes it stop.

    Raises:
        NotFound: There is no such batch or run.
        Problem: 400, the id is none of this stream's.
        RateExceeded: The key has as many streams open as it may.
    """
    after = request.headers.get("last-event-id") or options.after
    recent = None if options.history else RECENT_EVENTS
    target = {"batch_id": batch_id, "run_id": run_id}
    with admit_stream(request) as resources:
        stream = await _open(request, **target, after=after, recent=recent, with_text=options.text)
        resources.callback(stream.close)
        if after is not None and stream.is_at_end:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return StreamResponse(_frames(stream), at_end=resources.pop_all())


async def _open(request: Request, **target: Any) -> Stream:
    try:
        return await services_of(request).streams.open(**target)
    except UsageError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, str(error)) from None


async def _frames(stream: Stream) -> AsyncGenerator[bytes]:
    async with aclosing(stream.pages()) as pages:
        if start := stream.beginning:
            data = as_json(start.document())
            yield ServerSentEvent(data, event=EventKind.SNAPSHOT, id=start.id).encode()
        async for items in pages:
            # One write for all that waits: with many streams, writes are what takes the time.
            yield b"".join(item.rendering("frame", _frame) for item in items)


def _frame(item: StreamedEvent) -> bytes:
    return ServerSentEvent(item.event.to_json(), event=item.event.kind, id=item.id).encode()
