import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio
import mcp_types as types
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage

from chiron_workers.mcp_client.transport.protocol_filter import cut_result, remove_invalid_tools, set_defaults

Stream = TypeVar("Stream", bound=WriteStream[SessionMessage] | ReadStream[SessionMessage | Exception])

MESSAGE_BYTES_MAX = 4_000_000
WINDOW_S = 10.0
BYTES_MAX = 64_000_000  # in a window, and a message more for each request of ours
UNSOLICITED_MAX = 500  # messages in a window that answer no request of ours, and
UNSOLICITED_PER_REQUEST = 50  # more for each request, since servers report progress


class ConnectionEnded(Exception):
    """A connection has ended; the message is a clause that says why."""


class InputUnavailable(Exception):
    """A server asks for input before it answers that nobody here can give; the message is a clause."""


class Flooded(ConnectionEnded):
    """A server sends more than it may."""


class FloodGuard:
    """Limits how much a server may send, since its messages are read in the event loop of hundreds of runs.

    `changed` is set when the connection has ended or the list of tools has changed. `reason` says why the connection
    ended, where that is known. Once `protocol` is known, tools that it does not allow are removed from lists;
    `rejections` holds (name, reason) of each.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.has_ended = False
        self.reason = ""
        self.protocol = ""
        self.rejections: list[tuple[str, str]] = []
        self._window_start = time.monotonic()
        self._bytes = 0
        self._unsolicited = 0
        self._requests = 0

    def count(self, *, read_bytes: int = 0, unsolicited_count: int = 0, request_count: int = 0) -> None:
        """Add to the current window. Raises Flooded if that is too much."""
        now = time.monotonic()
        if now - self._window_start > WINDOW_S:
            self._window_start, self._bytes, self._unsolicited, self._requests = now, 0, 0, 0
        self._bytes += read_bytes
        self._unsolicited += unsolicited_count
        self._requests += request_count
        # The reasons hold no figures, so that the log repeats no reason with another number.
        if self._bytes > BYTES_MAX + self._requests * MESSAGE_BYTES_MAX:
            self.refuse("it sent too many bytes within seconds")
        if self._unsolicited > UNSOLICITED_MAX + self._requests * UNSOLICITED_PER_REQUEST:
            self.refuse("it sent too many messages that nobody asked for")

    def refuse(self, reason: str) -> None:
        """End the connection for this reason. Raises Flooded."""
        self.end(reason)
        raise Flooded(reason)

    def end(self, reason: str = "") -> None:
        """Note that the connection has ended; the first reason counts."""
        self.reason = self.reason or reason
        self.has_ended = True
        self.changed.set()


@asynccontextmanager
async def guarded_transport(
    transport: AbstractAsyncContextManager[TransportStreams], guard: FloodGuard
) -> AsyncIterator[TransportStreams]:
    """A transport whose messages the guard counts, and whose end it notices."""
    async with transport as (read, write):
        yield _GuardedReader(read, guard), _CountingWriter(write, guard)


class _GuardedStream(Generic[Stream]):
    """A stream around another one, which is closed with it."""

    def __init__(self, inner: Stream, guard: FloodGuard) -> None:
        self._inner: Stream = inner
        self._guard = guard

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _CountingWriter(_GuardedStream[WriteStream[SessionMessage]]):
    """Messages to a server; requests are counted."""

    async def send(self, item: SessionMessage) -> None:
        if isinstance(item.message, types.JSONRPCRequest):
            self._guard.count(request_count=1)
        await self._inner.send(item)


class _GuardedReader(_GuardedStream[ReadStream[SessionMessage | Exception]]):
    """Messages from a server; the stream ends where the server sends too many."""

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._guard.end()
            raise
        message = item.message if isinstance(item, SessionMessage) else None
        is_answer = isinstance(message, types.JSONRPCResponse | types.JSONRPCError)
        if isinstance(message, types.JSONRPCResponse) and self._guard.protocol:
            set_defaults(message.result, self._guard.protocol)
            cut_result(message.result)
            self._guard.rejections += remove_invalid_tools(message.result, self._guard.protocol)
        try:
            self._guard.count(unsolicited_count=0 if is_answer else 1)
        except Flooded:
            raise anyio.EndOfStream from None
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None
