"""Whether a model call may be made now. Five things can say "not now", each in a place of its own:

- rate limits (`rate_limits`): this account's requests and tokens a minute, by CHIRON_RATE_LIMITS;
- cool-downs (`local_cooldowns`, shared through `pubsub.cooldowns`): a model that turns everybody away for a while;
- retries (`retries`): one call that failed is made again after a pause;
- holds (`runs.model_holds`): no run of a model is started for minutes or hours, by a row in Postgres;
- reservations (`billing.reservations`): a budget has no room for the call.

Admission asks the first two, for all runs of a worker.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from redis.exceptions import RedisError

from chiron_workers.model.failures import Failure
from chiron_workers.model.local_cooldowns import LocalCooldowns
from chiron_workers.model.rate_limits import Estimate, RateLimiter
from chiron_workers.model.request import Request
from chiron_workers.pubsub.cooldowns import Cooldown, start_cooldown
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.pubsub.signals import CHANNEL
from chiron_workers.runs.entries import Usage
from chiron_workers.settings import Settings


class Admission:
    """Admits the model calls of all runs of a worker, by the models' cool-downs and rate limits."""

    def __init__(self, settings: Settings) -> None:
        self._redis = redis_client(settings.redis_url) if settings.redis_url else None
        self._limiter = RateLimiter(self._redis, settings.rate_limits)
        self._cooldowns = LocalCooldowns(self._publish)
        self._publishing: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Publish what waits and disconnect."""
        await asyncio.gather(*self._publishing)
        if self._redis is not None:
            await self._redis.aclose()

    async def admit(self, request: Request) -> Estimate | None:
        """Wait until the call may be made; `record_reply` takes what it returns.

        Raises:
            KeyRefused: The model cools down since its server refuses the key.
            ModelHeld: The model cools down for more than a minute.
            ModelUnavailable: Its rate limit has room in more than a minute.
        """
        await self._cooldowns.wait_until_over(request.model)
        estimate = await self._limiter.acquire(request)
        await self._cooldowns.wait_until_over(request.model)  # one may have begun in the meantime
        return estimate

    def record_reply(self, model: str, estimate: Estimate | None, usage: Usage) -> None:
        """Learn from a reply: the model answers, and this is what the call used."""
        self._cooldowns.record_reply(model)
        if estimate is not None:
            self._limiter.settle(estimate, usage)

    def record_failure(self, model: str, failure: Failure) -> None:
        """Learn from a failed try: a model that turns everybody away cools down for all workers."""
        if failure.is_full:
            self._cooldowns.record_refusal(
                model, failure.seconds, failure.reason, is_key_refused=failure.is_key_refused
            )

    def apply(self, cooldown: Cooldown) -> None:
        """Take over a cool-down that another worker published."""
        self._cooldowns.apply(cooldown)

    def may_wait(self, model: str) -> bool:
        """Whether a call of the model may have to wait before it is made."""
        return self._limiter.has_limit(model) or self.is_cooling(model)

    def is_cooling(self, model: str) -> bool:
        """Whether nobody should call this model now."""
        return self._cooldowns.is_cooling(model)

    def _publish(self, cooldown: Cooldown) -> None:
        if self._redis is not None:
            publication = _without_outages(start_cooldown(self._redis, CHANNEL, cooldown))
            task = asyncio.get_running_loop().create_task(publication)
            self._publishing.add(task)
            task.add_done_callback(self._publishing.discard)


async def _without_outages(publication: Coroutine[Any, Any, None]) -> None:
    # Without Redis each worker cools down alone.
    with contextlib.suppress(RedisError, OSError):
        await publication
