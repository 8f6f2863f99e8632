"""Live parts: what has changed of a page, sent as server-sent events until it is left."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.rendering import render
from chiron_api.http.sse import HEARTBEAT_S, SEND_TIMEOUT_S
from chiron_workers.pubsub.streams import Changes, Streams

FRAME_S = 1.0  # between two looks at what changes all the time
IDLE_FRAME_S = 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """HTML for the element with the id `target`: it replaces the element, or joins its children.

    `words` are what a screen reader says about it.
    """

    target: str
    html: str
    how: Literal["replace", "append", "prepend"] = "replace"
    words: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The parts of a page as they are now, and whether nothing more will come."""

    parts: tuple[Part, ...]
    is_last: bool = False


def live_parts(
    request: Request,
    draw: Callable[[], Awaitable[Frame]],
    *,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
) -> EventSourceResponse:
    """Send the parts of each frame that differ from the frame before, at most once in FRAME_S.

    A frame is drawn after an event of the batch or the run, and every few seconds, since an event may be missed. While
    Redis tells of no events, the page says so.
    """

    def delay(is_delayed: bool) -> Part:
        return Part("delay", render(request, "layout/delay.html", {"is_delayed": is_delayed}))

    source = _parts(draw, delay, services_of(request).streams, batch_id=batch_id, run_id=run_id)
    return EventSourceResponse(
        source, ping=HEARTBEAT_S, send_timeout=SEND_TIMEOUT_S, headers={"Cache-Control": "no-store"}
    )


async def _parts(
    draw: Callable[[], Awaitable[Frame]],
    delay: Callable[[bool], Part],
    streams: Streams,
    **target: UUID | None,
) -> AsyncIterator[ServerSentEvent]:
    first_delay = delay(False)
    sent_html = {first_delay.target: first_delay.html}  # as the page has it
    async with AsyncExitStack() as stack:
        changes: Changes | None = None
        if any(target.values()):
            changes = await stack.enter_async_context(streams.changes(**target))
        is_delayed = False
        while True:
            frame = await draw()
            for part in (*frame.parts, delay(is_delayed)):
                if part.how != "replace" or sent_html.get(part.target) != part.html:
                    sent_html[part.target] = part.html if part.how == "replace" else ""
                    yield ServerSentEvent(json.dumps(_fields(part)), event="part")
            if frame.is_last:
                yield ServerSentEvent("", event="end")
                return
            await asyncio.gather(asyncio.sleep(FRAME_S), _pause(changes))
            # Not before the first pause: a subscription takes a moment.
            is_delayed = changes is not None and not changes.is_live


async def _pause(changes: Changes | None) -> None:
    """Wait for a change, at most as long as an idle frame stands."""
    with suppress(TimeoutError):
        async with asyncio.timeout(IDLE_FRAME_S):
            await (changes.wait() if changes else asyncio.Event().wait())


def _fields(part: Part) -> Mapping[str, str]:
    fields = {"target": part.target, "html": part.html, "how": part.how}
    return fields | ({"words": part.words} if part.words else {})
