"""Hints to the workers, from whoever submits or steers and from each other: Redis makes quick what is true elsewhere."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from chiron_workers.pubsub.cooldowns import Cooling, lift, standing
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client
from chiron_workers.runs.events import Event

LOG = logging.getLogger(__name__)
CHANNEL = "chiron:control"
EVENTS_MAX = 2_000  # of one command; watchers read the others from Postgres
LISTEN_S = 30.0
PAUSE_MAX_S = 5.0


Signal = UUID | Cooling


async def notify(
    redis_url: str, target: UUID, events: Sequence[Event] = (), *, lifted: Sequence[str] = ()
) -> None:
    """Tell workers that a batch or a run is new or was steered, and watchers what happened; call it after the commit.

    The models in `lifted` may be called again at once.

    A lost hint only delays: workers look for what is next every `rescue_s`, and for what is wanted of their runs
    when they renew; watchers look into Postgres.
    """
    if not redis_url:
        return
    publisher = Publisher(redis_url)
    for event in deque(events, maxlen=EVENTS_MAX):
        publisher.publish(event)
    try:
        async with redis_client(redis_url) as redis:
            await lift(redis, CHANNEL, lifted)
            await redis.publish(CHANNEL, str(target))
    except (RedisError, OSError) as error:
        LOG.warning("Redis cannot be reached (%s); everything waits in Postgres.", type(error).__name__)
    await publisher.close()


async def signals(redis_url: str) -> AsyncGenerator[Signal]:
    """The batches and runs that are new or steered and the models that cool down, as it happens; never ends.

    What is submitted or steered while Redis is away is lost; the cool-downs that stand come with each new connection.
    """
    pause_s = 0.1
    while True:
        with contextlib.suppress(RedisError, OSError):
            async with redis_client(redis_url) as redis, redis.pubsub() as pubsub:
                await pubsub.subscribe(CHANNEL)
                while True:
                    leave_if_cancelled()
                    message = await pubsub.get_message(timeout=LISTEN_S)
                    pause_s = 0.1
                    if message is not None and message["type"] == "subscribe":
                        for cooling in await _standing(redis):
                            yield cooling
                    elif message is not None and message["type"] == "message":
                        with contextlib.suppress(ValueError):  # somebody else's message
                            yield _signal(message["data"].decode(errors="replace"))
        leave_if_cancelled()
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MAX_S)


async def _standing(redis: Redis) -> list[Cooling]:
    try:
        return await standing(redis)
    except ResponseError:  # the key is somebody else's: what is told from now on is heard all the same
        return []


def _signal(message: str) -> Signal:
    return Cooling.from_json(message) if message.startswith("{") else UUID(message)
