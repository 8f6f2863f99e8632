import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TypeVar, cast
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_outage
from chiron_workers.errors import NotFound
from chiron_workers.pubsub.publisher import batch_channel, run_channel
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client
from chiron_workers.runs.events import Event, heads, read_page
from chiron_workers.states import EventKind

READ_AGAIN_S = 4.0  # between two reads of Postgres while Redis is connected
POLL_S = 1.0  # and while it is not
PAUSE_MAX_S = 5.0
RUNS_AT_ONCE = 200  # of a batch, whose events are read together

FINAL_EVENTS = frozenset(
    {EventKind.RUN_COMPLETED, EventKind.RUN_FAILED, EventKind.RUN_CANCELLED, EventKind.BATCH_COMPLETED}
)
Value = TypeVar("Value")


async def tail(
    pool: Pool,
    redis_url: str,
    *,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
    after: int = 0,
    with_text: bool = False,
) -> AsyncGenerator[Event]:
    """Yield the events of a run or of a batch: first those that are stored, then each as it happens, until the end.

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
    seen_seqs: dict[UUID, int] = {} if run_id is None else {run_id: after}
    live = LiveEvents(redis_url, run_channel(run_id) if run_id else batch_channel(cast(UUID, batch_id)))
    try:
        await live.subscribe()
        while True:
            run_heads = await _through_outage(pool, lambda: heads(pool, batch_id=batch_id, run_id=run_id))
            if not run_heads.seqs:
                raise NotFound(f"There is no {'run' if run_id else 'batch'} {run_id or batch_id}.")
            behind = [run for run, seq in run_heads.seqs.items() if seq > seen_seqs.get(run, 0)]
            async for event in _missing_events(pool, seen_seqs, behind):
                yield event
            if run_heads.is_over:
                return
            final_kinds = FINAL_EVENTS if run_id else {EventKind.BATCH_COMPLETED}
            async for event in _live_events(pool, live, seen_seqs, final_kinds=final_kinds):
                if event.seq is not None or with_text:
                    yield event
    finally:
        await live.close()


@dataclass(slots=True)
class LiveEvents:
    """The events published on one channel; `events` ends whenever it may have missed some."""

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
        while (left_s := ask_again_at - time.monotonic()) > 0:
            try:
                message = await self._pubsub.get_message(timeout=left_s)
            except (RedisError, OSError):
                leave_if_cancelled()
                await self.close()
                return
            if message is None:
                leave_if_cancelled()
                continue
            if message["type"] == "subscribe":
                return
            if event := _parse_event(message):
                yield event

    async def close(self) -> None:
        """Stop listening; `subscribe` may follow."""
        pubsub, redis, self._pubsub, self._redis = self._pubsub, self._redis, None, None
        with suppress(RedisError, OSError):
            if pubsub is not None:
                await pubsub.aclose()  # type: ignore[no-untyped-call]
            if redis is not None:
                await redis.aclose()


async def _live_events(
    pool: Pool, live: LiveEvents, seen_seqs: dict[UUID, int], *, final_kinds: Set[str]
) -> AsyncGenerator[Event]:
    async with aclosing(live.events()) as events:
        async for event in events:
            seen_seq = seen_seqs.get(event.run_id, 0)
            if event.seq is None:
                yield event
            elif event.seq == seen_seq + 1:
                seen_seqs[event.run_id] = event.seq
                yield event
            elif event.seq > seen_seq:
                async for missing_event in _missing_events(pool, seen_seqs, [event.run_id]):
                    yield missing_event
            if event.kind in final_kinds:
                return


async def _missing_events(
    pool: Pool, seen_seqs: dict[UUID, int], run_ids: list[UUID]
) -> AsyncGenerator[Event]:
    for start in range(0, len(run_ids), RUNS_AT_ONCE):
        behind = run_ids[start : start + RUNS_AT_ONCE]
        while behind:
            after = {run_id: seen_seqs.get(run_id, 0) for run_id in behind}
            page = await _through_outage(pool, lambda after=after: read_page(pool, after))  # type: ignore[misc]
            for event in page:
                seen_seqs[event.run_id] = cast(int, event.seq)
                yield event
            run_ids_of_page = {event.run_id for event in page}
            behind = [run_id for run_id in behind if run_id in run_ids_of_page]


def _parse_event(message: Mapping[str, object]) -> Event | None:
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
