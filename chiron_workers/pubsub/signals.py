"""Signals to the workers, from whoever submits or steers and from each other: Redis makes quick what Postgres holds."""

import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from chiron_workers.pubsub.cooldowns import Cooldown, active_cooldowns, lift_cooldowns
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.pubsub.reconnection import Reconnection
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client
from chiron_workers.runs.events import Event

LOG = logging.getLogger(__name__)
CHANNEL = "chiron:control"
EVENTS_MAX = 2_000  # of one command; watchers read the others from Postgres
LISTEN_S = 30.0

Signal = UUID | Cooldown


async def notify(
    redis_url: str, target: UUID, events: Sequence[Event] = (), *, lifted: Sequence[str] = ()
) -> None:
    """Signal workers that a batch or a run is new or was steered, and publish its events; call it after the commit.

    A lost signal only delays: workers look for the next runs every `rescue_s`, and for requests to stop theirs when
    they renew; watchers read Postgres.

    Args:
        lifted: Models that may be called again at once.
    """
    if not redis_url:
        return
    publisher = Publisher(redis_url)
    for event in deque(events, maxlen=EVENTS_MAX):
        publisher.publish(event)
    try:
        async with redis_client(redis_url) as redis:
            await lift_cooldowns(redis, CHANNEL, lifted)
            await redis.publish(CHANNEL, str(target))
    except (RedisError, OSError) as error:
        LOG.warning("Redis cannot be reached (%s); everything waits in Postgres.", type(error).__name__)
    await publisher.close()


async def signals(redis_url: str) -> AsyncGenerator[Signal]:
    """The ids of batches and runs that are new or steered, and cool-downs, as they are published; never ends.

    Signals that are published while Redis is away are lost; the active cool-downs come with each new connection.
    """
    reconnection = Reconnection("hints.failed")
    while True:
        with reconnection.faults_suppressed():
            async with redis_client(redis_url) as redis, redis.pubsub() as pubsub:
                await pubsub.subscribe(CHANNEL)
                while True:
                    leave_if_cancelled()
                    message = await pubsub.get_message(timeout=LISTEN_S)
                    if message is not None and message["type"] == "subscribe":
                        for cooldown in await _active_cooldowns(redis):
                            yield cooldown
                    elif message is not None and message["type"] == "message":
                        with contextlib.suppress(ValueError):  # somebody else's message
                            text = message["data"].decode(errors="replace")
                            yield Cooldown.from_json(text) if text.startswith("{") else UUID(text)
        await reconnection.pause()


async def _active_cooldowns(redis: Redis) -> list[Cooldown]:
    try:
        return await active_cooldowns(redis)
    except ResponseError:  # the key is somebody else's; what is published from now on arrives all the same
        return []
