import asyncio
import contextlib

import structlog

from chiron_workers.model.event_stream import EventScanner
from chiron_workers.model.failures import CALL_FAULTS
from chiron_workers.model.faults import StreamSilent
from chiron_workers.model.stream import Accumulation
from chiron_workers.model.transport import Answer
from chiron_workers.model.words import Words

log = structlog.get_logger()

CALL_MAX_S = 3600.0  # also for a stream that goes on sending pings
STOP_MAX_S = 5.0  # from the stop reason to message_stop, which comes right after it
DRAIN_MAX_S = 2.0  # for the end of a body, after which its connection can be used again
DRAINED_MAX = 10  # responses at once whose end is awaited; more are cut off
ERROR_CHARS = 1_000
LIMIT_SHARE = 0.9  # of a limit that must be left, or it is set anew: so it is not set with each packet


class Responses:
    """Reads each response as far as its reply goes, and ends it in the background.

    Args:
        first_s: How long a stream may bring nothing before its first event.
        idle_s: How long afterwards.
    """

    def __init__(self, *, first_s: float, idle_s: float) -> None:
        self._first_s = first_s
        self._idle_s = min(first_s, idle_s)
        self._ending: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Cut off the responses that have not ended yet."""
        await asyncio.sleep(0)  # so that each of the tasks has begun, and closes what it has
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def read(
        self,
        answer: Answer,
        accumulation: Accumulation,
        words: Words | None,
    ) -> None:
        """Add the events of a response up to `message_stop`; `words` gets those of each, while they are heard.

        Nothing that happens to the connection after the reply's stop reason is a failure: the reply is whole by then. A
        cancel that comes after it is passed on to what the task awaits next, which is the commit of the reply.
        """
        try:
            await self._read(answer, accumulation, words)
        except CALL_FAULTS as error:
            if not accumulation.is_whole:
                raise
            log.info("model.reply_without_end", error=f"{type(error).__name__}: {error}"[:ERROR_CHARS])
        except asyncio.CancelledError:
            if not accumulation.is_whole:
                raise
            _cancel_next_await()
        finally:
            is_drained = accumulation.is_ended and len(self._ending) < DRAINED_MAX
            task = asyncio.get_running_loop().create_task(_end(answer, is_drained=is_drained))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _read(
        self,
        answer: Answer,
        accumulation: Accumulation,
        words: Words | None,
    ) -> None:
        scanner, clock = EventScanner(accumulation, answer.headers), asyncio.get_running_loop().time
        ends_at, idle_s = clock() + CALL_MAX_S, self._first_s
        limit_at = min(ends_at, clock() + idle_s)
        try:
            async with asyncio.timeout_at(limit_at) as limit:
                while chunk := await answer.read():
                    was_whole = accumulation.is_whole
                    scanner.feed(chunk, words.add if words is not None and words.is_heard() else None)
                    if accumulation.is_ended:
                        return
                    now = clock()
                    if accumulation.is_whole and not was_whole:
                        ends_at = min(ends_at, now + STOP_MAX_S)
                    if accumulation.has_begun:
                        idle_s = self._idle_s
                    next_limit_at = min(ends_at, now + idle_s)
                    if next_limit_at < limit_at or limit_at - now < LIMIT_SHARE * idle_s:
                        limit_at = next_limit_at
                        limit.reschedule(limit_at)
        except TimeoutError:
            if limit.expired() and limit_at < ends_at:
                raise StreamSilent(f"The stream has brought nothing for {idle_s:g} s.") from None
            raise


async def _end(answer: Answer, *, is_drained: bool) -> None:
    with contextlib.suppress(*CALL_FAULTS):
        try:
            if is_drained:
                async with asyncio.timeout(DRAIN_MAX_S):
                    while await answer.read():  # up to the end of the body
                        pass
        finally:
            await answer.close()


def _cancel_next_await() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()  # or it would count as two, and a timeout around it would not know its own
    asyncio.get_running_loop().call_soon(task.cancel)
