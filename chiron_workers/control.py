"""Hints from whoever steers to the workers that play: the row is the truth, and Redis makes it quick."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

from redis.exceptions import RedisError

from chiron_workers.progress import Publisher, redis_client
from chiron_workers.store.events import Event

CHANNEL = "chiron:control"
EVENTS_MAX = 2_000  # of one command; watchers read the others from Postgres
LISTEN_S = 30.0
PAUSE_MAX_S = 5.0


async def announce(redis_url: str, steered: UUID, events: Sequence[Event]) -> None:
    """Tell workers that a batch or a run was steered, and watchers what happened; call it after the commit.

    A Redis that is away only delays: workers learn of it when they renew, watchers when they look into Postgres.
    """
    if not redis_url:
        return
    publisher = Publisher(redis_url)
    for event in deque(events, maxlen=EVENTS_MAX):
        publisher.publish(event)
    with contextlib.suppress(RedisError, OSError):
        async with redis_client(redis_url) as redis:
            await redis.publish(CHANNEL, str(steered))
    await publisher.close()


async def hints(redis_url: str) -> AsyncGenerator[UUID]:
    """The batches and runs that are steered, as it happens; never ends. What comes while Redis is away is lost."""
    pause_s = 0.1
    while True:
        with contextlib.suppress(RedisError, OSError):
            async with redis_client(redis_url) as redis, redis.pubsub() as pubsub:
                await pubsub.subscribe(CHANNEL)
                while True:
                    message = await pubsub.get_message(timeout=LISTEN_S)
                    pause_s = 0.1
                    if message is not None and message["type"] == "message":
                        with contextlib.suppress(ValueError):  # somebody else's message
                            yield UUID(message["data"].decode(errors="replace"))
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MAX_S)
