import asyncio
import contextlib

import structlog

from chiron_workers.model.bounds import ReplyBounds
from chiron_workers.model.event_stream import BOM, EventScanner
from chiron_workers.model.failures import CALL_FAULTS
from chiron_workers.model.faults import NotAStream, StreamSilent
from chiron_workers.model.stream import Accumulation
from chiron_workers.model.transport import Answer
from chiron_workers.model.words import Words

log = structlog.get_logger()

CALL_MAX_S = 3600.0  # also for a stream that goes on sending pings
STOP_MAX_S = 5.0  # from the stop reason to message_stop, which comes right after it
DRAIN_MAX_S = 2.0  # for the end of a body, after which its connection can be used again
DRAINED_MAX = 10  # responses at once whose end is awaited; more are cut off
ERROR_CHARS = 1_000
SHOWN_BYTES = 60
HEAD_BYTES = 16  # of a body that say whether it is a stream
FIELDS = (b"event:", b"data:", b"id:", b"retry:", b":")  # with which a line of a stream begins
DOCUMENT_MARKS = (b"<", b"{", b"[", b'"')  # with which a page or a JSON document does
LIMIT_SHARE = 0.9  # of a limit that must be left, or it is set anew: so it is not set with each packet


class Responses:
    """Reads each response as far as its reply goes, and ends it in the background.

    Args:
        first_s: How long a stream may bring nothing before its first event.
        idle_s: How long afterwards.
        progress_s: How long it may bring nothing but pings and comments.
    """

    def __init__(self, *, first_s: float, idle_s: float, progress_s: float) -> None:
        self._first_s = first_s
        self._progress_s = progress_s
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
        bounds: ReplyBounds,
    ) -> None:
        """Add the events of a response up to `message_stop`; `words` gets those of each, while they are heard.

        Nothing that happens to the connection after the reply's stop reason is a failure: the reply is whole by then. A
        cancel that comes after it is passed on to what the task awaits next, which is the commit of the reply.
        """
        try:
            await self._read(answer, accumulation, words, bounds)
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
        bounds: ReplyBounds,
    ) -> None:
        scanner, clock = EventScanner(accumulation, answer.headers), asyncio.get_running_loop().time
        ends_at, idle_s, progress_at = clock() + CALL_MAX_S, self._first_s, clock()
        limit_at = min(ends_at, progress_at + min(idle_s, self._progress_s))
        head = _Head(answer)
        stream_bytes = events = 0
        try:
            async with asyncio.timeout_at(limit_at) as limit:
                while chunk := await answer.read():
                    was_whole = accumulation.is_whole
                    stream_bytes += len(chunk)
                    on_text = words.add if words is not None and words.is_heard() else None
                    scanner.feed(head.take(chunk), on_text)
                    if accumulation.is_ended:
                        return
                    bounds.require(content=accumulation.content_bytes, stream=stream_bytes)
                    now = clock()
                    if scanner.events != events:
                        events, progress_at = scanner.events, now
                    if accumulation.is_whole and not was_whole:
                        ends_at = min(ends_at, now + STOP_MAX_S)
                    if accumulation.has_begun:
                        idle_s = self._idle_s
                    next_limit_at = min(ends_at, now + idle_s, progress_at + self._progress_s)
                    if next_limit_at < limit_at or limit_at - now < LIMIT_SHARE * idle_s:
                        limit_at = next_limit_at
                        limit.reschedule(limit_at)
            head.require_stream()
        except TimeoutError:
            head.require_stream()
            if limit.expired() and limit_at < ends_at:
                is_pinging = limit_at >= progress_at + self._progress_s
                silence = f"but pings for {self._progress_s:g}" if is_pinging else f"for {idle_s:g}"
                raise StreamSilent(f"The stream has brought nothing {silence} s.") from None
            raise


class _Head:
    """The first bytes of a body, kept back until they say whether it is a stream.

    Where its head says nothing the headers do. Streams of some servers name another type, so theirs alone is no proof.
    """

    def __init__(self, answer: Answer) -> None:
        content_type = answer.headers.get("content-type", "")
        self._type = content_type.partition(";")[0].strip().lower()
        self._bytes: bytes | None = b""

    def take(self, chunk: bytes) -> bytes:
        """What of a body can be read as a stream by now. Raises NotAStream."""
        if self._bytes is None:
            return chunk
        self._bytes += chunk
        head = self._bytes.removeprefix(BOM).lstrip()
        if len(head) < HEAD_BYTES and any(field.startswith(head) for field in FIELDS):
            return b""
        if not head.startswith(FIELDS) and (head.startswith(DOCUMENT_MARKS) or not self._has_stream_type):
            raise self._fault(head)
        chunk, self._bytes = self._bytes, None
        return chunk

    def require_stream(self) -> None:
        """Raise NotAStream where the body has ended, or brought nothing, and never was one."""
        if self._bytes is not None and not self._has_stream_type:
            raise self._fault(self._bytes)

    @property
    def _has_stream_type(self) -> bool:
        return self._type in ("", "text/event-stream")

    def _fault(self, head: bytes) -> NotAStream:
        excerpt = head[:SHOWN_BYTES].decode(errors="replace")
        return NotAStream(
            f"The model's server answers 200 with what is no reply of a model ({self._type or 'no type'}, {excerpt!r}). "
            "Check ANTHROPIC_BASE_URL and what stands between."
        )


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
