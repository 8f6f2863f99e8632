"""The shell for programs without an event loop: it carries out the steps of flows, one after the other."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Self, cast

import httpx2

from chiron_api.client.call import Item, Value
from chiron_api.client.flows.steps import Answer, Cut, Emit, Flow, Outcome, Pause, Read, Send, Step
from chiron_api.client.flows.streams import EventFlow, StreamedEvent
from chiron_api.client.server import Server, find_server
from chiron_api.client.transport import FAILURES, Body, client_options, cut_of, lower_names, request_options


class Wire:
    """Carries out the steps of one flow; at most one body is open in it."""

    def __init__(self, http: httpx2.Client, server: Server, timeout_s: float) -> None:
        self._http, self._server, self._timeout_s = http, server, timeout_s
        self._response: httpx2.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def perform(self, step: Step) -> Outcome:
        """Do a step and say what came of it."""
        match step:
            case Send():
                return self._send(step)
            case Read():
                return self._read()
            case Pause(seconds):
                time.sleep(seconds)
        return None

    def close(self) -> None:
        """Hang up, if a body is open."""
        if self._response is not None:
            self._response.close()
            self._response = None

    def _send(self, step: Send) -> Answer | Cut:
        self.close()
        try:
            message = self._http.build_request(**request_options(step, self._server, self._timeout_s))
            response = self._http.send(message, stream=True)
            if step.is_stream and response.is_success:
                self._response, self._chunks = response, response.iter_bytes()
                return Answer(response.status_code, lower_names(response.headers), b"")
            with closing(response):
                body = Body()
                for piece in response.iter_bytes():
                    body.add(piece)
            return Answer(response.status_code, lower_names(response.headers), body.content())
        except FAILURES as error:
            return cut_of(error)

    def _read(self) -> bytes | Cut:
        try:
            return next(self._chunks, b"")
        except FAILURES as error:
            return cut_of(error)


class Items(Iterator[Item]):
    """What arrives, one after the other. Leave it by `with` or `close()` where it is not read to its end."""

    def __init__(self, flow: Flow[None], wire: Wire) -> None:
        self._flow, self._wire = flow, wire

    def __next__(self) -> Item:
        outcome: Outcome = None
        try:
            while not isinstance(step := self._flow.send(outcome), Emit):
                outcome = self._wire.perform(step)
        except BaseException:  # also StopIteration, which is the end
            self.close()
            raise
        return cast(Item, step.item)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._flow.close()
        self._wire.close()


class EventStream(Items[StreamedEvent]):
    """Events as they happen."""

    def __init__(self, events: EventFlow, wire: Wire) -> None:
        super().__init__(events.steps(), wire)
        self._events = events

    @property
    def last_id(self) -> str | None:
        """The id of the last event, which `after=` takes; None before the first."""
        return self._events.last_id


class BlockingShell:
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
        self._http = httpx2.Client(**client_options(self._server))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def _wire(self) -> Wire:
        return Wire(self._http, self._server, self._timeout_s)

    def _value(self, flow: Flow[Value]) -> Value:
        wire, outcome = self._wire(), cast(Outcome, None)
        try:
            while True:
                outcome = wire.perform(flow.send(outcome))
        except StopIteration as end:
            return cast(Value, end.value)
        finally:
            wire.close()

    def _items(self, flow: Flow[None]) -> Items[Any]:
        return Items(flow, self._wire())

    def _events(self, events: EventFlow) -> EventStream:
        return EventStream(events, self._wire())
