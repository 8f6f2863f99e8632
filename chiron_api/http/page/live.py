"""Live parts: what has changed of a page, sent as server-sent events until it is left."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from chiron_api.http.dependencies import services_of
from chiron_workers.pubsub.publisher import batch_channel, run_channel
from chiron_workers.pubsub.tail import LiveEvents

HEARTBEAT_S = 15
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

    A frame is drawn after an event of the batch or the run, and every few seconds, since an event may be missed.
    """
    channel = batch_channel(batch_id) if batch_id else run_channel(run_id) if run_id else ""
    source = _changes(draw, services_of(request).settings.redis_url, channel)
    return EventSourceResponse(
        source, ping=HEARTBEAT_S, send_timeout=60, headers={"Cache-Control": "no-store"}
    )


async def _changes(
    draw: Callable[[], Awaitable[Frame]], redis_url: str, channel: str
) -> AsyncIterator[ServerSentEvent]:
    sent_html: dict[str, str] = {}
    live = LiveEvents(redis_url, channel)
    try:
        while True:
            frame = await draw()
            for part in frame.parts:
                if part.how != "replace" or sent_html.get(part.target) != part.html:
                    sent_html[part.target] = part.html if part.how == "replace" else ""
                    yield ServerSentEvent(json.dumps(_fields(part)), event="part")
            if frame.is_last:
                yield ServerSentEvent("", event="end")
                return
            await asyncio.gather(
                asyncio.sleep(FRAME_S), _next_event(live) if channel else asyncio.sleep(IDLE_FRAME_S)
            )
    finally:
        await live.close()


async def _next_event(live: LiveEvents) -> None:
    async with aclosing(live.events()) as events:
        async for _ in events:
            return


def _fields(part: Part) -> Mapping[str, str]:
    fields = {"target": part.target, "html": part.html, "how": part.how}
    return fields | ({"words": part.words} if part.words else {})
