"""Hints to the workers that play, from whoever steers and from each other: Redis makes quick what is true elsewhere."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from chiron_workers.cooling import Cooling, lift, standing
from chiron_workers.progress import Publisher, redis_client
from chiron_workers.store.events import Event

CHANNEL = "chiron:control"
EVENTS_MAX = 2_000  # of one command; watchers read the others from Postgres
LISTEN_S = 30.0
PAUSE_MAX_S = 5.0


Hint = UUID | Cooling


async def announce(
    redis_url: str, steered: UUID, events: Sequence[Event], *, lifted: Sequence[str] = ()
) -> None:
    """Tell workers that a batch or a run was steered, and watchers what happened; call it after the commit.

    The models in `lifted` may be called again at once.

    A Redis that is away only delays: workers learn of it when they renew, watchers when they look into Postgres.
    """
    if not redis_url:
        return
    publisher = Publisher(redis_url)
    for event in deque(events, maxlen=EVENTS_MAX):
        publisher.publish(event)
    with contextlib.suppress(RedisError, OSError):
        async with redis_client(redis_url) as redis:
            await lift(redis, CHANNEL, lifted)
            await redis.publish(CHANNEL, str(steered))
    await publisher.close()


async def hints(redis_url: str) -> AsyncGenerator[Hint]:
    """The batches and runs that are steered and the models that cool down, as it happens; never ends.

    What is steered while Redis is away is lost; the cool-downs that stand come with each new connection.
    """
    pause_s = 0.1
    while True:
        with contextlib.suppress(RedisError, OSError):
            async with redis_client(redis_url) as redis, redis.pubsub() as pubsub:
                await pubsub.subscribe(CHANNEL)
                while True:
                    _leave_if_cancelled()
                    message = await pubsub.get_message(timeout=LISTEN_S)
                    pause_s = 0.1
                    if message is not None and message["type"] == "subscribe":
                        for cooling in await _standing(redis):
                            yield cooling
                    elif message is not None and message["type"] == "message":
                        with contextlib.suppress(ValueError):  # somebody else's message
                            yield _hint(message["data"].decode(errors="replace"))
        _leave_if_cancelled()
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MAX_S)


async def _standing(redis: Redis) -> list[Cooling]:
    try:
        return await standing(redis)
    except ResponseError:  # the key is somebody else's: what is told from now on is heard all the same
        return []


def _leave_if_cancelled() -> None:
    # redis-py swallows a cancellation that meets it while it connects.
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _hint(message: str) -> Hint:
    return Cooling.from_json(message) if message.startswith("{") else UUID(message)
