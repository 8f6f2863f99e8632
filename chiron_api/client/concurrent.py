"""The shell for asyncio: it carries out the same steps of flows, and lets others go on meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Self, cast

import httpx2

from chiron_api.client.call import Item, Value
from chiron_api.client.flows.steps import Answer, Cut, Emit, Flow, Outcome, Pause, Read, Send, Step
from chiron_api.client.flows.streams import EventFlow, StreamedEvent
from chiron_api.client.server import Server, find_server
from chiron_api.client.transport import FAILURES, Body, client_options, cut_of, lower_names, request_options


class AsyncWire:
    """Carries out the steps of one flow; at most one body is open in it."""

    def __init__(self, http: httpx2.AsyncClient, server: Server, timeout_s: float) -> None:
        self._http, self._server, self._timeout_s = http, server, timeout_s
        self._response: httpx2.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def perform(self, step: Step) -> Outcome:
        """Do a step and say what came of it."""
        match step:
            case Send():
                return await self._send(step)
            case Read():
                return await self._read()
            case Pause(seconds):
                await asyncio.sleep(seconds)
        return None

    async def close(self) -> None:
        """Hang up, if a body is open."""
        if self._response is not None:
            response, self._response = self._response, None
            await response.aclose()

    async def _send(self, step: Send) -> Answer | Cut:
        await self.close()
        try:
            message = self._http.build_request(**request_options(step, self._server, self._timeout_s))
            response = await self._http.send(message, stream=True)
            if step.is_stream and response.is_success:
                self._response, self._chunks = response, response.aiter_bytes()
                return Answer(response.status_code, lower_names(response.headers), b"")
            async with aclosing(response):
                body = Body()
                async for piece in response.aiter_bytes():
                    body.add(piece)
            return Answer(response.status_code, lower_names(response.headers), body.content())
        except FAILURES as error:
            return cut_of(error)

    async def _read(self) -> bytes | Cut:
        assert self._chunks is not None
        try:
            return await anext(self._chunks, b"")
        except FAILURES as error:
            return cut_of(error)


class AsyncItems(AsyncIterator[Item]):
    """What arrives, one after the other. Leave it by `async with` or `aclose()` where it is not read to its end."""

    def __init__(self, flow: Flow[None], wire: AsyncWire) -> None:
        self._flow, self._wire = flow, wire

    async def __anext__(self) -> Item:
        outcome: Outcome = None
        try:
            while not isinstance(step := self._flow.send(outcome), Emit):
                outcome = await self._wire.perform(step)
        except StopIteration:
            await self.aclose()
            raise StopAsyncIteration from None
        except BaseException:
            await self.aclose()
            raise
        return cast(Item, step.item)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Hang up."""
        self._flow.close()
        await self._wire.close()


class AsyncEventStream(AsyncItems[StreamedEvent]):
    """Events as they happen."""

    def __init__(self, events: EventFlow, wire: AsyncWire) -> None:
        super().__init__(events.steps(), wire)
        self._events = events

    @property
    def last_id(self) -> str | None:
        """The id of the last event, which `after=` takes; None before the first."""
        return self._events.last_id


class AsyncShell:
    """A connection to a server."""

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = 120.0,
        patience_s: float = 60.0,
    ) -> None:
        self._server = find_server(base_url, key, patience_s=patience_s)
        self._timeout_s = timeout_s
        self._http = httpx2.AsyncClient(**client_options(self._server))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Hang up."""
        await self._http.aclose()

    def _wire(self) -> AsyncWire:
        return AsyncWire(self._http, self._server, self._timeout_s)

    async def _value(self, flow: Flow[Value]) -> Value:
        wire, outcome = self._wire(), cast(Outcome, None)
        try:
            while True:
                outcome = await wire.perform(flow.send(outcome))
        except StopIteration as end:
            return cast(Value, end.value)
        finally:
            await wire.close()

    def _items(self, flow: Flow[None]) -> AsyncItems[Any]:
        return AsyncItems(flow, self._wire())

    def _events(self, events: EventFlow) -> AsyncEventStream:
        return AsyncEventStream(events, self._wire())
