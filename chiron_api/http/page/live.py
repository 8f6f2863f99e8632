"""Live parts: what has changed of a page, sent as server-sent events until it is left."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sse_starlette import ServerSentEvent
from starlette.requests import Request

from chiron_api.http.dependencies import admit_stream, services_of
from chiron_api.http.open_streams import StreamResponse
from chiron_api.http.page.rendering import render
from chiron_api.http.page.shared_views import SharedView, SharedViews, State


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
    key: Hashable,
    load: Callable[[], Awaitable[State]],
    draw: Callable[[State], Awaitable[Frame]],
    *,
    draw_reply: Callable[[int], Part] | None = None,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
) -> StreamResponse:
    """Send the parts of each frame that differ from the frame before, at most once in READ_S.

    The state is read once for all viewers of a page, and each stream draws its own frame. While Redis reports no events,
    the page says so.

    Args:
        key: As for `SharedViews.watch`, as `load`, `batch_id` and `run_id` are.
        draw: Makes a frame of what was read.
        draw_reply: Makes a part of the length of the reply that the model of a run writes, in characters.
    """

    def delay(is_delayed: bool) -> Part:
        return Part("delay", render(request, "layout/delay.html", {"is_delayed": is_delayed}))

    async def health() -> tuple[Hashable, Part]:
        fleet = await services_of(request).fleet()
        # Not its seconds: they change all the time, and a page that is left open has to be told of problems alone.
        signs = (fleet.has_postgres, fleet.redis, fleet.workers, fleet.silent_workers)
        html = render(request, "layout/health.html", {"health": fleet})
        return signs if fleet.problems else (), Part("health", html.strip(), words=". ".join(fleet.problems))

    views: SharedViews = request.state.views
    source = _parts(views.watch(key, load, batch_id=batch_id, run_id=run_id), draw, draw_reply, delay, health)
    return StreamResponse(source, at_end=admit_stream(request), headers={"Cache-Control": "no-store"})


async def _parts(
    watch: AbstractAsyncContextManager[SharedView[State]],
    draw: Callable[[State], Awaitable[Frame]],
    draw_reply: Callable[[int], Part] | None,
    delay: Callable[[bool], Part],
    health: Callable[[], Awaitable[tuple[Hashable, Part]]],
) -> AsyncIterator[ServerSentEvent]:
    last_signs: Hashable = ()
    first_delay = delay(False)
    sent_html = {first_delay.target: first_delay.html}  # as the page has it
    async with watch as view:
        while True:
            look = await view.next()
            frame = await draw(look.state)
            signs, line = await health()
            lines = [line] if signs != last_signs else []
            last_signs = signs
            replies = [draw_reply(look.reply_chars)] if draw_reply else []
            for part in (*frame.parts, *replies, delay(look.is_delayed), *lines):
                if part.how != "replace" or sent_html.get(part.target) != part.html:
                    sent_html[part.target] = part.html if part.how == "replace" else ""
                    yield ServerSentEvent(json.dumps(_fields(part)), event="part")
            if frame.is_last:
                yield ServerSentEvent("", event="end")
                return


def _fields(part: Part) -> Mapping[str, str]:
    fields = {"target": part.target, "html": part.html, "how": part.how}
    return fields | ({"words": part.words} if part.words else {})
