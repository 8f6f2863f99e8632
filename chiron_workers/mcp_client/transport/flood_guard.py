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

from chiron_workers.mcp_client.transport.protocol_filter import complete, keep_allowed

Stream = TypeVar("Stream", bound=WriteStream[SessionMessage] | ReadStream[SessionMessage | Exception])

MESSAGE_BYTES_MAX = 4_000_000
WINDOW_S = 10.0
BYTES_MAX = 64_000_000  # in a window, and a message more for each request of ours
UNASKED_MAX = 500  # messages in a window that answer no request of ours, and
UNASKED_EACH = 50  # more for each request: servers tell how they get on


class Ended(Exception):
    """A connection has ended; the message is a clause that says why."""


class NoInput(Exception):
    """A server wants something else before it answers that nobody here can give; the message is a clause."""


class Flooded(Ended):
    """A server sends more than it may."""


class Meter:
    """How much a server sends: the loop it would take up belongs to hundreds of runs.

    `news` is set when something is to be looked at: the connection ended, or the list of tools is another.
    `reason` says why the connection ended, where that is known. Once `protocol` is known, lists of tools are passed on
    without the tools that the protocol does not allow; `left_out` holds their names and why.
    """

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.has_ended = False
        self.reason = ""
        self.protocol = ""
        self.left_out: list[tuple[str, str]] = []
        self._since = time.monotonic()
        self._bytes = 0
        self._unasked = 0
        self._asked = 0

    def count(self, *, read_bytes: int = 0, unasked: int = 0, asked: int = 0) -> None:
        """Raises Flooded if it is too much for the current window."""
        now = time.monotonic()
        if now - self._since > WINDOW_S:
            self._since, self._bytes, self._unasked, self._asked = now, 0, 0, 0
        self._bytes += read_bytes
        self._unasked += unasked
        self._asked += asked
        # Without figures, so that the log says it once.
        if self._bytes > BYTES_MAX + self._asked * MESSAGE_BYTES_MAX:
            self.refuse("it sent too many bytes within seconds")
        if self._unasked > UNASKED_MAX + self._asked * UNASKED_EACH:
            self.refuse("it sent too many messages that nobody asked for")

    def refuse(self, reason: str) -> None:
        """End the connection for this reason. Raises Flooded."""
        self.end(reason)
        raise Flooded(reason)

    def end(self, reason: str = "") -> None:
        """Note that the connection has ended; the first reason counts."""
        self.reason = self.reason or reason
        self.has_ended = True
        self.news.set()


@asynccontextmanager
async def metered(
    transport: AbstractAsyncContextManager[TransportStreams], meter: Meter
) -> AsyncIterator[TransportStreams]:
    """A transport whose messages are counted, and whose end is told to the meter."""
    async with transport as (read, write):
        yield _Metered(read, meter), _Counted(write, meter)


class _Around(Generic[Stream]):
    """A stream that is looked at as it goes by, and closed with the one inside."""

    def __init__(self, inner: Stream, meter: Meter) -> None:
        self._inner: Stream = inner
        self._meter = meter

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Counted(_Around[WriteStream[SessionMessage]]):
    """A stream of messages to a server, of which those that ask something are counted."""

    async def send(self, item: SessionMessage) -> None:
        if isinstance(item.message, types.JSONRPCRequest):
            self._meter.count(asked=1)
        await self._inner.send(item)


class _Metered(_Around[ReadStream[SessionMessage | Exception]]):
    """A stream of messages from a server that ends where the server sends too many."""

    async def receive(self) -> SessionMessage | Exception:
        try:
            found = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._meter.end()
            raise
        message = found.message if isinstance(found, SessionMessage) else None
        answers = isinstance(message, types.JSONRPCResponse | types.JSONRPCError)
        if isinstance(message, types.JSONRPCResponse) and self._meter.protocol:
            complete(message.result, self._meter.protocol)
            self._meter.left_out += keep_allowed(message.result, self._meter.protocol)
        try:
            self._meter.count(unasked=0 if answers else 1)
        except Flooded:
            raise anyio.EndOfStream from None
        return found

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None
