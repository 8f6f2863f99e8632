import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from redis.exceptions import RedisError

from chiron_workers.model.failures import Wait
from chiron_workers.model.local_cooldowns import Cooldowns
from chiron_workers.model.rate_limits import Limiter, Taken
from chiron_workers.model.request import Request
from chiron_workers.pubsub.cooldowns import Cooling, cool
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.pubsub.signals import CHANNEL
from chiron_workers.runs.entries import Usage
from chiron_workers.settings import Settings


class Traffic:
    """What all runs of a worker heed before they call a model: its cool-down and its rate limits."""

    def __init__(self, settings: Settings) -> None:
        self._redis = redis_client(settings.redis_url) if settings.redis_url else None
        self._limiter = Limiter(self._redis, settings.rate_limits)
        self._cooldowns = Cooldowns(self._announce)
        self._announcing: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Let go of the connection."""
        await asyncio.gather(*self._announcing)
        if self._redis is not None:
            await self._redis.aclose()

    async def enter(self, request: Request) -> Taken | None:
        """Wait until the call may be made; give what it returns to `answered`.

        Raises:
            ModelHeld: The model cools down for more than a minute.
            ModelUnavailable: The call's turn comes in more than a minute.
        """
        await self._cooldowns.wait_out(request.model)
        taken = await self._limiter.enter(request)
        await self._cooldowns.wait_out(request.model)  # it may have begun in the meantime
        return taken

    def answered(self, model: str, taken: Taken | None, usage: Usage) -> None:
        """A reply came."""
        self._cooldowns.answered(model)
        if taken is not None:
            self._limiter.settle(taken, usage)

    def failed(self, model: str, wait: Wait) -> None:
        """A try failed: a model that is full cools down for all workers."""
        if wait.is_full:
            self._cooldowns.refused(model, wait.seconds, wait.reason)

    def heed(self, cooling: Cooling) -> None:
        """What was heard from another worker."""
        self._cooldowns.heed(cooling)

    def is_cooling(self, model: str) -> bool:
        """Whether nobody should call this model now."""
        return self._cooldowns.is_cooling(model)

    def _announce(self, cooling: Cooling) -> None:
        if self._redis is not None:
            task = asyncio.get_running_loop().create_task(_quietly(cool(self._redis, CHANNEL, cooling)))
            self._announcing.add(task)
            task.add_done_callback(self._announcing.discard)


async def _quietly(announcing: Coroutine[Any, Any, None]) -> None:
    # Without Redis each worker cools down alone.
    with contextlib.suppress(RedisError, OSError):
        await announcing
