import asyncio
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from redis.asyncio import Redis

from chiron_workers.instruments import record_dropped_event, record_publication
from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.pubsub.reconnection import Reconnection
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

EVENTS_MAX = 5_000  # that wait to be published; more are dropped, since watchers find them in Postgres
DELTAS_FROM = 2_000  # with so many waiting, text deltas are dropped: they are the many and the least
BATCH_EVENTS = 100  # of one round trip
GATHERING_S = 0.02  # so that the events of one step, and of many runs, leave in one round trip
CLOSING_S = 2.0
_SCRIPT = Path(__file__).with_suffix(".lua").read_text()


class Publisher:
    """Publishes events after their commit, within an event loop that it never holds up.

    Events that cannot be published are dropped: watchers read them from Postgres. So a dead Redis costs nothing
    but the liveness of the watching.

    Args:
        on_receivers: Called with each channel and how many a publication on it has reached.
    """

    def __init__(
        self, redis_url: str, *, on_receivers: Callable[[str, int], None] = lambda _channel, _count: None
    ) -> None:
        self._redis = redis_client(redis_url) if redis_url else None
        self._on_receivers = on_receivers
        self._queue: deque[tuple[Event, float]] = deque()  # with the time at which each came
        self._arrived = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._is_closing = False

    def publish(self, event: Event) -> None:
        """Queue an event; returns at once and never raises. Call it within the event loop."""
        limit = DELTAS_FROM if event.kind == EventKind.TEXT_DELTA else EVENTS_MAX
        if self._redis is None:
            return
        if len(self._queue) >= limit:
            record_dropped_event()
            return
        self._queue.append((event, time.monotonic()))
        self._arrived.set()
        if self._sender is None:
            self._sender = asyncio.get_running_loop().create_task(self._send_all(self._redis))

    async def close(self) -> None:
        """Publish what waits, for two seconds at most, and disconnect."""
        if self._redis is None:
            return
        self._is_closing = True
        self._arrived.set()
        if self._sender is not None:
            await asyncio.wait({self._sender}, timeout=CLOSING_S)
            self._sender.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)
        await self._redis.aclose()

    async def _send_all(self, redis: Redis) -> None:
        reconnection = Reconnection("publisher.failed")
        while self._queue or not self._is_closing:
            await self._arrived.wait()
            if not self._is_closing:
                await asyncio.sleep(GATHERING_S)
            with reconnection.faults_suppressed():
                await self._send_batch(redis)
                continue
            if self._is_closing:
                return
            await reconnection.pause()

    async def _send_batch(self, redis: Redis) -> None:
        events = list(islice(self._queue, BATCH_EVENTS))
        args: list[str] = []
        for event, _ in events:
            args += (batch_channel(event.batch_id), run_channel(event.run_id), event.to_json())
        # One script rather than a pipeline: redis-py takes 10 us for each command of one.
        receivers = await redis.eval(_SCRIPT, 0, *args)
        for channel, count in zip(args[0::3] + args[1::3], receivers[0::2] + receivers[1::2], strict=True):
            self._on_receivers(channel, int(count))
        now = time.monotonic()
        for _, came_at in events:
            self._queue.popleft()
            record_publication(now - came_at)
        if not self._queue and not self._is_closing:
            self._arrived.clear()
