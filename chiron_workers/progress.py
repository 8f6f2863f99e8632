"""Events out of a worker (Publisher) and into a watcher (tail). Redis makes quick what Postgres holds."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar, cast
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from chiron_workers.db.connect import Pool, is_outage
from chiron_workers.errors import ConfigurationError, NotFound
from chiron_workers.runs.events import Event, Heads, heads, read_page
from chiron_workers.states import EventKind

EVENTS_MAX = 5_000  # that wait to be published; more are dropped, since watchers find them in Postgres
DELTAS_FROM = 2_000  # with so many waiting, text deltas are dropped: they are the many and the least
PIPELINED = 100  # events of one round trip; 58,000 publishes a second were measured with it
GATHERING_S = 0.02  # so that the events of one step, and of many runs, leave in one round trip
CLOSING_S = 2.0
READ_AGAIN_S = 4.0  # between two looks into Postgres while Redis is heard of
POLL_S = 1.0  # and while it is not
PAUSE_MAX_S = 5.0
CONNECT_S = 2.0
ANSWER_S = 5.0
RUNS_AT_ONCE = 200  # of a batch, whose events are read together

ENDINGS = frozenset(
    {EventKind.RUN_COMPLETED, EventKind.RUN_FAILED, EventKind.RUN_CANCELLED, EventKind.BATCH_COMPLETED}
)
Value = TypeVar("Value")


def batch_channel(batch_id: UUID) -> str:
    """Where the events of all runs of a batch are published."""
    return f"chiron:batch:{batch_id}"


def run_channel(run_id: UUID) -> str:
    """Where the events of one run are published."""
    return f"chiron:run:{run_id}"


class Publisher:
    """Publishes events after their commit, within an event loop that it never holds up.

    What cannot be published is dropped: whoever watches reads it from Postgres. So a dead Redis costs nothing
    but the liveness of the watching.
    """

    def __init__(self, redis_url: str) -> None:
        self._redis = redis_client(redis_url) if redis_url else None
        self._waiting: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._is_closing = False

    def publish(self, event: Event) -> None:
        """Queue an event; returns at once and never raises. Call it within the event loop."""
        limit = DELTAS_FROM if event.kind == EventKind.TEXT_DELTA else EVENTS_MAX
        if self._redis is None or len(self._waiting) >= limit:
            return
        self._waiting.append(event)
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
        pause_s = 0.1
        while self._waiting or not self._is_closing:
            await self._arrived.wait()
            if not self._is_closing:
                await asyncio.sleep(GATHERING_S)
            if await self._send_some(redis):
                pause_s = 0.1
                continue
            if self._is_closing:
                return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, PAUSE_MAX_S)

    async def _send_some(self, redis: Redis) -> bool:
        events = list(islice(self._waiting, PIPELINED))
        pipeline = redis.pipeline(transaction=False)
        for event in events:
            message = event.to_json()
            pipeline.publish(batch_channel(event.batch_id), message)
            pipeline.publish(run_channel(event.run_id), message)
        try:
            await pipeline.execute()
        except (RedisError, OSError):
            return False
        for _ in events:
            self._waiting.popleft()
        if not self._waiting and not self._is_closing:
            self._arrived.clear()
        return True


async def tail(
    pool: Pool,
    redis_url: str,
    *,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
    after: int = 0,
    with_text: bool = False,
) -> AsyncGenerator[Event]:
    """The events of a run or of a batch: first those that are stored, then each as it happens, until the end.

    Each run's events come in order of seq, none missing and none twice, also across outages of Redis and
    Postgres. Without Redis they come a second later. Wrap it in `contextlib.aclosing` to leave it early.

    Args:
        after: Of a run, leave out the events up to this seq.
        with_text: Also pass on text deltas, which have no seq and are lost while nobody listens.

    Raises:
        NotFound: There is no such run or batch (any more).
    """
    if (batch_id is None) == (run_id is None):
        raise TypeError("tail() follows one batch or one run")
    reached: dict[UUID, int] = {} if run_id is None else {run_id: after}
    live = Live(redis_url, run_channel(run_id) if run_id else batch_channel(cast(UUID, batch_id)))
    try:
        await live.subscribe()
        while True:
            found = await _through_outage(pool, lambda: heads(pool, batch_id=batch_id, run_id=run_id))
            if not found.seqs:
                raise NotFound(f"There is no {'run' if run_id else 'batch'} {run_id or batch_id}.")
            async for event in _missing(pool, reached, _behind(found, reached)):
                yield event
            if found.is_over:
                return
            endings = ENDINGS if run_id else {EventKind.BATCH_COMPLETED}
            async for event in _live(pool, live, reached, endings=endings):
                if event.seq is not None or with_text:
                    yield event
    finally:
        await live.close()


@dataclass(slots=True)
class Live:
    """What is published on one channel. It may miss messages, and says whenever it may have."""

    redis_url: str
    channel: str
    _redis: Redis | None = None
    _pubsub: PubSub | None = None

    async def subscribe(self) -> bool:
        """Listen; False if Redis cannot be reached. Whatever is published after True is not missed."""
        if not self.redis_url:
            return False
        self._redis = redis_client(self.redis_url)
        self._pubsub = self._redis.pubsub()
        try:
            await self._pubsub.subscribe(self.channel)
            # Redis has subscribed us when it says so, not when it was asked to.
            notice = await self._pubsub.get_message(timeout=POLL_S)
        except (RedisError, OSError):
            notice = None
        leave_if_cancelled()
        if notice is None or notice["type"] != "subscribe":
            await self.close()
        return self._pubsub is not None

    async def events(self) -> AsyncGenerator[Event]:
        """Events as they are published; ends when Postgres must be asked.

        That is after READ_AGAIN_S, after an outage, and at a new subscription, since redis-py subscribes again in
        silence and only the notice tells of the gap.
        """
        if self._pubsub is None:
            if not await self.subscribe():
                await asyncio.sleep(POLL_S)
            return
        ask_again_at = time.monotonic() + READ_AGAIN_S
        while (left := ask_again_at - time.monotonic()) > 0:
            try:
                message = await self._pubsub.get_message(timeout=left)
            except (RedisError, OSError):
                leave_if_cancelled()
                await self.close()
                return
            if message is None:
                leave_if_cancelled()
                continue
            if message["type"] == "subscribe":
                return
            if event := _event_of(message):
                yield event

    async def close(self) -> None:
        """Stop listening; `subscribe` may follow."""
        pubsub, redis, self._pubsub, self._redis = self._pubsub, self._redis, None, None
        with suppress(RedisError, OSError):
            if pubsub is not None:
                await pubsub.aclose()  # type: ignore[no-untyped-call]
            if redis is not None:
                await redis.aclose()


def leave_if_cancelled() -> None:
    """Raise the cancellation of this task that redis-py 8.1 swallows where it meets it while connecting."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _live(
    pool: Pool, live: Live, reached: dict[UUID, int], *, endings: Set[str]
) -> AsyncGenerator[Event]:
    async with aclosing(live.events()) as events:
        async for event in events:
            before = reached.get(event.run_id, 0)
            if event.seq is None:
                yield event
            elif event.seq == before + 1:
                reached[event.run_id] = event.seq
                yield event
            elif event.seq > before:
                async for stored in _missing(pool, reached, [event.run_id]):
                    yield stored
            if event.kind in endings:
                return


def _behind(found: Heads, reached: Mapping[UUID, int]) -> list[UUID]:
    return [run_id for run_id, seq in found.seqs.items() if seq > reached.get(run_id, 0)]


async def _missing(pool: Pool, reached: dict[UUID, int], run_ids: list[UUID]) -> AsyncGenerator[Event]:
    for start in range(0, len(run_ids), RUNS_AT_ONCE):
        behind = run_ids[start : start + RUNS_AT_ONCE]
        while behind:
            after = {run_id: reached.get(run_id, 0) for run_id in behind}
            page = await _through_outage(pool, lambda after=after: read_page(pool, after))  # type: ignore[misc]
            for event in page:
                reached[event.run_id] = cast(int, event.seq)
                yield event
            advanced = {event.run_id for event in page}
            behind = [run_id for run_id in behind if run_id in advanced]


def _event_of(message: Mapping[str, object]) -> Event | None:
    data = message["data"]
    if message["type"] != "message" or not isinstance(data, bytes):
        return None
    try:
        return Event.from_json(data)
    except (ValueError, KeyError, TypeError):
        return None  # Somebody else's message; a gap it may leave is found in Postgres.


async def _through_outage(pool: Pool, read: Callable[[], Awaitable[Value]]) -> Value:
    pause_s = 0.1
    while True:
        try:
            return await read()
        except (psycopg.Error, PoolTimeout) as error:
            if pool.closed or not is_outage(error):
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MAX_S)


def redis_client(redis_url: str) -> Redis:
    """A client that waits seconds at most and tries nothing again by itself. Raises ConfigurationError for a wrong URL."""
    try:
        return Redis.from_url(
            redis_url,
            retry=Retry(NoBackoff(), 0),  # One place waits and tries again: the loops above.
            socket_connect_timeout=CONNECT_S,
            socket_timeout=ANSWER_S,
            health_check_interval=20,
        )
    except ValueError as error:
        raise ConfigurationError(f"CHIRON_REDIS_URL cannot be used: {error}") from None
