"""A feed: the events of one batch or one run as this process hears them, for all who watch it here."""

import asyncio
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast
from uuid import UUID

from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.pubsub.cursors import EXCEPTIONS_MAX, CursorText, Position, Snapshot
from chiron_workers.pubsub.positions import Heads
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

QUEUE_MAX = 256  # events that wait for one watcher; one that is slower reads them from Postgres
LAG_MAX = 2_000  # events that a feed reads for its watchers; if it lacks more, each of them reads for itself
EXCEPTIONS_WISH = 100  # runs; with more, a new snapshot makes the ids short again

FINAL_EVENTS = frozenset(
    {EventKind.RUN_COMPLETED, EventKind.RUN_FAILED, EventKind.RUN_CANCELLED, EventKind.BATCH_COMPLETED}
)
Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class StreamedEvent:
    """An event and its id in a stream, which is None for what is not stored. All watchers of a process share it."""

    event: Event
    id: str | None
    _renderings: dict[str, object] = field(default_factory=dict)

    def rendering(self, name: str, make: Callable[["StreamedEvent"], Value]) -> Value:
        """What is made of the event, such as a frame or a part of a page, made once for all who watch."""
        if name not in self._renderings:
            self._renderings[name] = make(self)
        return cast(Value, self._renderings[name])


@dataclass(slots=True, eq=False)
class Watcher:
    """The events that wait for one who watches. One who does not fetch them in time has a gap, and an empty queue."""

    with_text: bool
    queue: deque[StreamedEvent] = field(default_factory=deque)
    change: asyncio.Event = field(default_factory=asyncio.Event)
    has_gap: bool = False
    is_over: bool = False
    error: Exception | None = None

    def put(self, item: StreamedEvent) -> None:
        """Queue an event; returns at once."""
        if len(self.queue) >= QUEUE_MAX:
            self.skip()
        if not self.has_gap:
            self.queue.append(item)
            self.change.set()

    def skip(self) -> None:
        """Leave what waits and what follows to Postgres."""
        self.queue.clear()
        self.has_gap = True
        self.change.set()


@dataclass(slots=True, eq=False)
class ChangeWatcher(Watcher):
    """One who wants to know that something has happened, and how long the reply is that a run's model writes.

    Attributes:
        reply_chars: Of the text that has come since the last other event: what came before it was attached is missing.
    """

    reply_chars: int = 0

    def put(self, item: StreamedEvent) -> None:
        """Note an event; text alone is no change."""
        if item.event.kind == EventKind.TEXT_DELTA:
            self.reply_chars += len(str(item.event.data.get("text", "")))
            return
        self.reply_chars = 0
        self.change.set()


class Feed:
    """How far a batch or a run has come for those who watch it: every event up to here was handed to each of them.

    It waits for nothing: `request` asks for a survey of Postgres, whose answer comes with `apply`.
    """

    def __init__(
        self, *, batch_id: UUID | None, run_id: UUID | None, request: Callable[["Feed"], None]
    ) -> None:
        self.batch_id, self.run_id = batch_id, run_id
        self.target_id = cast(UUID, batch_id or run_id)
        self.channel = batch_channel(batch_id) if batch_id else run_channel(self.target_id)
        self.began = asyncio.Event()
        self.survey_end = asyncio.Event()  # of the next one; each has its own
        self.error: Exception | None = None
        self.cursor_text = CursorText(0)
        self.users = self.text_users = 0
        self.snapshot: Snapshot | None = None
        self.run_ids: list[UUID] = []
        self.seqs = array("i")  # of the events handed out, by the number of the run
        self.is_over = False
        # Until it begins, and where a run is new to it: a survey of all runs has to come.
        self.is_stale = True
        self._request = request
        self._numbers: dict[UUID, int] = {}
        self._exceptions: dict[int, int] = {}  # runs that are elsewhere than the snapshot has them
        self._goals: dict[int, int] = {}  # and those of them that lag behind it: the seq they have there
        self._watchers: set[Watcher] = set()

    @property
    def position(self) -> Position:
        """How far the feed has come."""
        return Position(self.snapshot, len(self.run_ids), dict(self._exceptions), has_lags=bool(self._goals))

    @property
    def is_complete(self) -> bool:
        """Whether it is over and everything of it was handed out."""
        return self.is_over and not self._goals

    def attach(self, watcher: Watcher) -> None:
        """Hand the watcher whatever comes from now on."""
        watcher.queue.clear()
        watcher.change.clear()
        watcher.has_gap, watcher.is_over = False, False
        self._watchers.add(watcher)
        if self.error or self.is_complete:
            self._end(watcher)

    def detach(self, watcher: Watcher) -> None:
        """Hand it nothing any more."""
        self._watchers.discard(watcher)

    def receive(self, event: Event) -> None:
        """Hand on an event that was published, or ask for a survey where some before it are not there."""
        number = self._numbers.get(event.run_id)
        if event.seq is None:
            self._hand_out(StreamedEvent(event, None))
        elif number is None or event.seq > self.seqs[number] + 1 or not self._has_room(number):
            self._request(self)
        elif event.seq > self.seqs[number]:
            self._advance(number, event)
            if event.kind in FINAL_EVENTS or len(self._exceptions) > EXCEPTIONS_WISH:
                self._request(self)

    def look_again(self) -> None:
        """Look for what was published and did not arrive."""
        self._request(self)

    def begin(self, snapshot: Snapshot, heads: Heads) -> None:
        """Start from what Postgres has, which each watcher reads for itself."""
        self.run_ids = sorted(heads.seqs)
        self._numbers = {run_id: number for number, run_id in enumerate(self.run_ids)}
        self.seqs = array("i", [heads.seqs[run_id] for run_id in self.run_ids])
        self._exceptions, self._goals = {}, {}
        self.snapshot, self.is_over, self.is_stale = snapshot, heads.is_over, False
        for watcher in self._watchers:
            watcher.skip()
        self.began.set()

    def apply(self, snapshot: Snapshot, heads: Heads) -> None:
        """Take over a newer snapshot; afterwards `lags` has the runs that are behind it."""
        if any(run_id not in self._numbers for run_id in heads.seqs):
            self.is_stale = True
            self._request(self)
            return
        self.snapshot, self.is_over = snapshot, heads.is_over
        for run_id, seq in heads.seqs.items():
            number = self._numbers[run_id]
            self._exceptions.pop(number, None)
            self._goals.pop(number, None)
            if seq != self.seqs[number]:
                self._exceptions[number] = self.seqs[number]
            if seq > self.seqs[number]:
                self._goals[number] = seq
        lag = sum(goal - self.seqs[number] for number, goal in self._goals.items())
        if lag > LAG_MAX or len(self._exceptions) > EXCEPTIONS_MAX:
            self._leap()

    @property
    def lags(self) -> dict[UUID, int]:
        """The runs of which Postgres has more, with the seqs after which they must be read."""
        return {self.run_ids[number]: self.seqs[number] for number in self._goals}

    def fill(self, event: Event) -> None:
        """Hand on an event that was read from Postgres, unless it was handed on meanwhile."""
        number = self._numbers.get(event.run_id)
        if number is not None and cast(int, event.seq) > self.seqs[number]:
            self._advance(number, event)

    def give_up(self, run_id: UUID) -> None:
        """Wait for nothing more of a run: its events are deleted."""
        number = self._numbers.get(run_id)
        if number in self._goals:
            self.seqs[number] = self._goals[number]
            self._reach(number)

    def settle(self) -> None:
        """Everything is handed on that the snapshot has: end the streams of what is over."""
        self._end_survey()
        if self.is_complete:
            for watcher in self._watchers:
                self._end(watcher)

    def fail(self, error: Exception) -> None:
        """End all streams with an error."""
        self.error = error
        self.began.set()
        self._end_survey()
        for watcher in self._watchers:
            self._end(watcher)

    def _end_survey(self) -> None:
        self.survey_end.set()
        self.survey_end = asyncio.Event()

    def _has_room(self, number: int) -> bool:
        return number in self._exceptions or len(self._exceptions) < EXCEPTIONS_MAX

    def _advance(self, number: int, event: Event) -> None:
        self.seqs[number] = cast(int, event.seq)
        self._reach(number)
        text = str(event.seq) if self.run_id else self.cursor_text.live(self.position)
        self._hand_out(StreamedEvent(event, text))

    def _reach(self, number: int) -> None:
        goal = self._goals.get(number)
        if goal is not None and self.seqs[number] == goal:
            del self._goals[number], self._exceptions[number]
        else:
            self._exceptions[number] = self.seqs[number]

    def _hand_out(self, item: StreamedEvent) -> None:
        is_text = item.event.seq is None
        for watcher in self._watchers:
            if watcher.with_text or not is_text:
                watcher.put(item)

    def _leap(self) -> None:
        for number, goal in self._goals.items():
            self.seqs[number] = goal
            del self._exceptions[number]
        self._goals = {}
        for watcher in self._watchers:
            watcher.skip()

    def _end(self, watcher: Watcher) -> None:
        watcher.error = self.error
        watcher.is_over = True
        watcher.change.set()
