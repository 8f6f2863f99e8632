import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

import anthropic
import httpx2
import structlog
from anthropic import AsyncStream

from chiron_workers.model.failures import STREAM_FAULTS
from chiron_workers.model.stream import Accumulation

log = structlog.get_logger()

CALL_MAX_S = 3600.0  # also for a stream that goes on sending pings
STOP_MAX_S = 5.0  # from the stop reason to message_stop, which comes right after it
DRAIN_MAX_S = 2.0  # for the end of a body, after which its connection can be used again
DRAINED_MAX = 10  # responses at once whose end is awaited; more are cut off
ERROR_CHARS = 1_000
Events = AsyncGenerator[Any, None]  # of the SDK's events, which have a name and data


class Responses:
    """Reads each response as far as its reply goes, and ends it in the background."""

    def __init__(self) -> None:
        self._ending: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Cut off the responses that have not ended yet."""
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def read(
        self, response: httpx2.Response, accumulation: Accumulation, on_text: Callable[[str], None]
    ) -> None:
        """Add the events of a response up to `message_stop`; `on_text` gets the words of each.

        Nothing that happens to the connection after the reply's stop reason is a failure: the reply is whole by then. A
        cancel that comes after it is passed on to what the task awaits next, which is the commit of the reply.
        """
        events = cast(Events, AsyncStream.raw_events(response))
        try:
            await _read(response, events, accumulation, on_text)
        except (anthropic.APIStatusError, *STREAM_FAULTS) as error:
            if not accumulation.is_whole:
                raise
            log.info("model.reply_without_end", error=f"{type(error).__name__}: {error}"[:ERROR_CHARS])
        except asyncio.CancelledError:
            if not accumulation.is_whole:
                raise
            _cancel_next_await()
        finally:
            is_drained = accumulation.is_ended and len(self._ending) < DRAINED_MAX
            task = asyncio.get_running_loop().create_task(_end(response, events, is_drained=is_drained))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


async def _read(
    response: httpx2.Response, events: Events, accumulation: Accumulation, on_text: Callable[[str], None]
) -> None:
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + CALL_MAX_S
    async with asyncio.timeout_at(ends_at) as limit:
        async for event in events:
            if event.event == "error":
                raise _stream_error(response, event.data)
            if event.data and event.event != "ping":
                on_text(accumulation.add_json(event.data))
            if accumulation.is_ended:
                return
            if accumulation.is_whole:
                ends_at = min(ends_at, loop.time() + STOP_MAX_S)
                limit.reschedule(ends_at)


async def _end(response: httpx2.Response, events: Events, *, is_drained: bool) -> None:
    with contextlib.suppress(anthropic.AnthropicError, *STREAM_FAULTS):
        try:
            if is_drained:
                async with asyncio.timeout(DRAIN_MAX_S):
                    await anext(events, None)  # the end of the body; whatever else comes is not waited for
        finally:
            await events.aclose()
            await response.aclose()


def _cancel_next_await() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()  # or it would count as two, and a timeout around it would not know its own
    asyncio.get_running_loop().call_soon(task.cancel)


def _stream_error(response: httpx2.Response, data: str) -> anthropic.APIStatusError:
    # With the status of the stream, as the SDK raises it: only its type says what it is.
    try:
        body = json.loads(data)
    except ValueError:
        body = data
    return anthropic.APIStatusError(str(body)[:ERROR_CHARS], response=response, body=body)
