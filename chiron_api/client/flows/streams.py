"""Flows of many values: pages, the results of a batch, and events that go on after every cut."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from chiron_api.answers.events import ANY_EVENT, AnyEvent, Event
from chiron_api.client.call import Call, Item, Listing, unreadable
from chiron_api.client.errors import Unavailable
from chiron_api.client.flows.failures import error_of
from chiron_api.client.flows.lines import Frames, Lines
from chiron_api.client.flows.patience import Patience
from chiron_api.client.flows.requests import answered, request
from chiron_api.client.flows.steps import Cut, Emit, Flow, Pause, Read, Send
from chiron_api.client.server import Server

NO_CONTENT = 204


class UnknownEvent(Event):
    """An event of a kind, or with data, that only a newer server knows."""

    kind: str
    data: dict[str, Any]


StreamedEvent = AnyEvent | UnknownEvent


def pages(server: Server, listing: Listing[Item]) -> Flow[None]:
    """Emits each item of a list, page after page."""
    after = None
    while True:
        page = yield from request(server, listing.page(after))
        for item in page.items:
            yield Emit(item)
        after = page.next
        if after is None:
            return


def results(server: Server, call: Call[Any]) -> Flow[None]:
    """Emits each run of a batch once; after a cut the list is read anew, and what was emitted is passed over."""
    patience = Patience(server.patience_s)
    ids: set[UUID] = set()
    while True:
        yield from answered(server, Send(call, is_stream=True), patience)
        lines = Lines()
        while chunk := (yield Read()):
            if isinstance(chunk, Cut):
                break
            patience.reset()
            for line in lines.feed(chunk):
                result = call.parse(line)
                if result.id not in ids:
                    ids.add(result.id)
                    yield Emit(result)
        else:
            return
        yield Pause(patience.delay_s(error_of(chunk, call, server)))


class EventFlow:
    """The events of a batch or a run. `last_id` is the id of the last that was emitted, to go on after it elsewhere."""

    def __init__(self, server: Server, call: Call[Any]) -> None:
        self._server, self._call = server, call
        self._seqs: dict[UUID, int] = {}  # of each run, so that none comes twice though runs were deleted
        self.last_id: str | None = call.headers.get("Last-Event-ID")

    def steps(self) -> Flow[None]:
        """Emits each event once, in the order of each run, until nothing can follow.

        The end of a body says nothing: a server that stops ends its streams, too. It is over once the server answers so
        (204) to who wants to go on after the last event.
        """
        patience = Patience(self._server.patience_s)
        while True:
            headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
            step = Send(self._call, headers, is_stream=True)
            answer = yield from answered(self._server, step, patience)
            if answer.status == NO_CONTENT:
                return
            frames, has_events = Frames(), False
            while isinstance(chunk := (yield Read()), bytes) and chunk:
                patience.reset()
                for event in self._events(frames, chunk):
                    has_events = True
                    yield Emit(event)
            if not has_events:
                reason = chunk.reason if isinstance(chunk, Cut) else "the stream ended before its final event"
                yield Pause(patience.delay_s(self._lost(reason)))

    def _events(self, frames: Frames, chunk: bytes) -> Iterator[StreamedEvent]:
        for frame in frames.feed(chunk):
            event = parse_event(frame.data)
            self.last_id = frame.id or self.last_id
            if event.seq is not None:
                if event.seq <= self._seqs.get(event.run_id, 0):
                    continue
                self._seqs[event.run_id] = event.seq
            yield event

    def _lost(self, reason: str) -> Unavailable:
        return Unavailable(
            f"The events of {self._call.location} cannot be followed any further: {reason}. "
            "Go on with `after=` and the last id of this stream."
        )


def parse_event(data: bytes) -> StreamedEvent:
    """An event of its kind; one that is not understood as an UnknownEvent. Raises Unreadable for what is no event."""
    try:
        return ANY_EVENT.validate_json(data)
    except ValidationError:
        try:
            return UnknownEvent.model_validate_json(data)
        except ValidationError as error:
            raise unreadable("a stream of events", error) from None
