"""Page reads shared by all viewers: each page is read once, however many streams show it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from chiron_workers.pubsub.streams import Changes, Streams

READ_S = 1.0  # between two reads of a view that changes all the time
IDLE_READ_S = 5.0

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Look(Generic[State]):
    """The state that a view shows now.

    Attributes:
        is_delayed: Whether Redis reports no events, so that changes appear seconds later.
        reply_chars: Characters of the reply under way that were received, for the view of a run.
    """

    state: State
    is_delayed: bool
    reply_chars: int = 0


class SharedView(Generic[State]):
    """One view: reads its state after an event, and every few seconds, since an event may be missed."""

    def __init__(
        self, load: Callable[[], Awaitable[State]], streams: Streams, target: dict[str, UUID | None]
    ) -> None:
        self._load, self._streams, self._target = load, streams, target
        self.users = 0
        self._arrival = asyncio.Event()
        self._reading = self._next = _silent_future()
        self._is_over = False
        self._task = asyncio.create_task(self._run())

    @property
    def is_over(self) -> bool:
        """Whether it reads no more, though it may still be closing."""
        return self._is_over

    async def next(self) -> Look[State]:
        """The result of the next read to begin. Raises the error of that read."""
        look = await asyncio.shield(self._next)
        return cast(Look[State], look)

    def hurry(self) -> None:
        """Read soon, for a new viewer."""
        self._arrival.set()

    def close(self) -> None:
        """Stop reading."""
        self._task.cancel()

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            try:
                changes: Changes | None = None
                if any(self._target.values()):
                    has_text = self._target["run_id"] is not None
                    changes = await stack.enter_async_context(
                        self._streams.changes(**self._target, with_text=has_text)
                    )
                await self._read(changes)
            except Exception as error:  # noqa: BLE001  # All viewers get it.
                self._end(error)
            finally:  # Also after a cancel that is not `close`: a library may cancel its own work.
                self._end(RuntimeError("The reads of this page were cancelled."))

    async def _read(self, changes: Changes | None) -> None:
        is_delayed = False
        while self.users:  # A cancel that a library swallows does not keep it going.
            self._reading, self._next = self._next, _silent_future()
            self._arrival.clear()
            state, chars = await self._load(), changes.reply_chars if changes else 0
            self._reading.set_result(Look(state, is_delayed, chars))
            await asyncio.gather(asyncio.sleep(READ_S), self._pause(changes))
            # Not before the first pause: a subscription takes a moment.
            is_delayed = changes is not None and not changes.is_live

    def _end(self, error: Exception) -> None:
        """Fail what viewers wait for, and have new ones begin a view of their own; a second time does nothing."""
        self._is_over = True
        for future in (self._reading, self._next):
            if not future.done():
                future.set_exception(error)

    async def _pause(self, changes: Changes | None) -> None:
        """Wait for a change or a new viewer, at most IDLE_READ_S."""
        signals: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._arrival.wait())]
        if changes:
            signals.append(asyncio.ensure_future(changes.wait()))
        try:
            await asyncio.wait(signals, timeout=IDLE_READ_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for signal in signals:
                signal.cancel()


class SharedViews:
    """The views of one process that have viewers."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._views: dict[Hashable, SharedView[Any]] = {}

    @asynccontextmanager
    async def watch(
        self,
        key: Hashable,
        load: Callable[[], Awaitable[State]],
        *,
        batch_id: UUID | None = None,
        run_id: UUID | None = None,
    ) -> AsyncIterator[SharedView[State]]:
        """Join a view as a viewer.

        Args:
            key: Identifies the state, and its viewer where the state depends on the viewer: equal keys share a view.
            load: Reads the state.
            batch_id: Read again after each event of this batch, or of the run `run_id`. Without either, read every few seconds.
        """
        view = self._views.get(key)
        if view is None or view.is_over:
            view = SharedView(load, self._streams, {"batch_id": batch_id, "run_id": run_id})
            self._views[key] = view
        view.users += 1
        view.hurry()
        try:
            yield view
        finally:
            view.users -= 1
            if not view.users:
                view.close()
                if self._views.get(key) is view:
                    del self._views[key]


class SharedReads(Generic[State]):
    """Parts of a state that only some viewers need: each is read once, for the viewers that request it."""

    def __init__(self, read: Callable[[int], Awaitable[State]]) -> None:
        self._read = read
        self._tasks: dict[int, asyncio.Future[State]] = {}

    async def get(self, key: int) -> State:
        """The part of this key. Raises the error of its read."""
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(self._read(key))
            self._tasks[key].add_done_callback(_look_at_error)
        return await asyncio.shield(self._tasks[key])


def _silent_future() -> "asyncio.Future[Any]":
    """A future whose error asyncio does not log, even if no task awaits it."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.add_done_callback(_look_at_error)
    return future


def _look_at_error(future: "asyncio.Future[Any]") -> None:
    with suppress(asyncio.CancelledError):
        future.exception()
