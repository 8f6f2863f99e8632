"""Who listens to the words of runs, as Redis itself says: words that nobody hears are not even decoded.

Redis counts the subscribers of a channel, also those who subscribe from a program of their own, and forgets each with its
connection. A watcher of ours that wants no words says so by subscribing to a second channel as well, on which nothing is
published. Subscribers by a pattern are not counted, but each publication says how many it has reached.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from chiron_workers.duty_failures import reason_of
from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.pubsub.reconnection import ERROR_CHARS
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client

log = structlog.get_logger()

LOOK_S = 1.0
GATHERING_S = 0.02  # so that runs which begin together are looked up together
LOOKS_UNUSED_MAX = 60  # after so many a channel that nobody asks about is forgotten
CHANNELS_AT_ONCE = 500


def quiet_channel(channel: str) -> str:
    """What a subscriber who wants no words subscribes to beside the channel."""
    return f"{channel}:quiet"


@dataclass(slots=True)
class _Channel:
    subscribers: int = 0
    quiet: int = 0  # of them
    receivers: int = 0  # of the last publication
    looks_unused: int = 0

    @property
    def is_heard(self) -> bool:
        return self.subscribers > self.quiet or self.receivers > self.subscribers


class Listeners:
    """Looks once a second who listens to the channels that are asked about, hundreds in one statement."""

    def __init__(self, redis_url: str) -> None:
        self._redis = redis_client(redis_url) if redis_url else None
        self._channels: dict[str, _Channel] = {}
        self._fresh = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_refused = False

    async def close(self) -> None:
        """Look no more, and disconnect."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._redis is not None:
            await self._redis.aclose()

    def audience_of(self, batch_id: UUID, run_id: UUID) -> Callable[[], bool]:
        """What says whether somebody wants a run's words at this moment, as of the last look; returns at once."""
        if self._redis is None:
            return lambda: False
        batch, run = batch_channel(batch_id), run_channel(run_id)
        # Both are asked, so that both count as used.
        return lambda: self._is_heard(batch) | self._is_heard(run)

    def record(self, channel: str, receivers: int) -> None:
        """Learn from a publication how many it has reached, also by patterns."""
        state = self._channels.get(channel)
        if state is not None:
            state.receivers = receivers

    def _is_heard(self, name: str) -> bool:
        if self._is_refused:
            return True
        state = self._channels.get(name)
        if state is None:
            state = self._channels[name] = _Channel()
            self._fresh.set()
            if self._task is None and self._redis is not None:
                self._task = asyncio.get_running_loop().create_task(self._run(self._redis))
                self._task.add_done_callback(self._fail)
        state.looks_unused = 0
        return state.is_heard

    async def _run(self, redis: Redis) -> None:
        while not self._is_refused:
            if not self._channels:
                await self._fresh.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._fresh.wait(), LOOK_S)
            await asyncio.sleep(GATHERING_S)
            self._fresh.clear()
            try:
                await self._look(redis)
            except ResponseError as error:
                # A proxy, or rights that end before PUBSUB: then words are published as if somebody listened.
                log.warning("listeners.not_counted", error=str(error))
                self._publish_always()
            except (RedisError, OSError):
                leave_if_cancelled()  # without Redis nothing is published either

    def _fail(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("listeners.ended", error=reason_of(error)[:ERROR_CHARS], exc_info=error)
            self._publish_always()

    def _publish_always(self) -> None:
        self._is_refused = True
        self._channels.clear()

    async def _look(self, redis: Redis) -> None:
        names = list(self._channels)
        for start in range(0, len(names), CHANNELS_AT_ONCE):
            part = names[start : start + CHANNELS_AT_ONCE]
            counts = await redis.pubsub_numsub(*part, *map(quiet_channel, part))
            numbers = [int(count) for _, count in counts]
            for name, subscribers, quiet in zip(part, numbers, numbers[len(part) :], strict=False):
                self._update(name, subscribers, quiet)

    def _update(self, name: str, subscribers: int, quiet: int) -> None:
        state = self._channels[name]
        state.subscribers, state.quiet = subscribers, quiet
        state.looks_unused += 1
        if state.looks_unused > LOOKS_UNUSED_MAX:
            del self._channels[name]
