"""One connection to Redis for all channels that a process listens to."""

import asyncio
import time
from collections.abc import Mapping
from typing import Protocol

from redis.asyncio.client import PubSub

from chiron_workers.pubsub.listeners import quiet_channel
from chiron_workers.pubsub.reconnection import Reconnection
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client
from chiron_workers.runs.events import Event

CHANNELS_AT_ONCE = 500
LISTEN_S = 5.0
SILENCE_MAX_S = 20.0  # of a connection that was asked whether it is there


class Listener(Protocol):
    """What listens to a channel. Neither call may wait or raise."""

    def receive(self, event: Event) -> None:
        """Take an event that was published."""

    def look_again(self) -> None:
        """Something may have been published that did not arrive: the subscription has begun, or was lost."""


class Hub:
    """Channels and who listens to each, over one connection that is open while there are any.

    Messages are handed on within the event loop as they come: nobody here waits for a listener. While Redis is away no
    channel is live, and each subscription begins anew once it is back.
    """

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url
        self._listeners: dict[str, Listener] = {}
        self._text_channels: set[str] = set()
        self._live_channels: set[str] = set()
        self._change = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def subscribe(self, channel: str, listener: Listener) -> None:
        """Listen to a channel from now on; returns at once."""
        self._listeners[channel] = listener
        self._change.set()
        if self._redis_url and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def want_text(self, channel: str, *, is_wanted: bool) -> None:
        """Whether the words of runs are wanted, too; who publishes them looks."""
        if is_wanted != (channel in self._text_channels):
            self._text_channels ^= {channel}
            self._change.set()

    def unsubscribe(self, channel: str) -> None:
        """Listen no longer; without any channel the connection is closed."""
        self._listeners.pop(channel, None)
        self._text_channels.discard(channel)
        self._change.set()
        if not self._listeners and self._task is not None:
            self._task.cancel()
            self._task = None
            self._live_channels = set()

    def is_live(self, channel: str) -> bool:
        """Whether what is published on it arrives."""
        return channel in self._live_channels

    async def _run(self) -> None:
        reconnection = Reconnection("streams.failed")
        while True:
            with reconnection.faults_suppressed():
                async with redis_client(self._redis_url) as redis, redis.pubsub() as pubsub:
                    await self._listen(pubsub)
            self._live_channels = set()
            for listener in self._listeners.values():
                listener.look_again()
            await reconnection.pause()

    async def _listen(self, pubsub: PubSub) -> None:
        channels = await self._exchange_channels(pubsub, set())
        message_task = change = None
        silent_since = time.monotonic()
        try:
            while True:
                message_task = message_task or asyncio.create_task(pubsub.get_message(timeout=LISTEN_S))
                change = change or asyncio.create_task(self._change.wait())
                await asyncio.wait({message_task, change}, return_when=asyncio.FIRST_COMPLETED)
                leave_if_cancelled()
                if change.done():
                    change = None
                    channels = await self._exchange_channels(pubsub, channels)
                if message_task.done():
                    message, message_task = message_task.result(), None
                    silent_since = await self._check(pubsub, message, silent_since)
                    self._hand_on(message)
        finally:
            for task in filter(None, (message_task, change)):
                task.cancel()
            await asyncio.gather(*filter(None, (message_task, change)), return_exceptions=True)

    async def _check(
        self, pubsub: PubSub, message: Mapping[str, object] | None, silent_since: float
    ) -> float:
        """Ask a silent connection whether it is there. Raises ConnectionError for one that does not answer."""
        if message is not None:
            return time.monotonic()
        if time.monotonic() - silent_since > SILENCE_MAX_S:
            raise ConnectionError("Redis is silent")
        await pubsub.ping("chiron")
        return silent_since

    async def _exchange_channels(self, pubsub: PubSub, channels: set[str]) -> set[str]:
        self._change.clear()
        goal = self._listeners.keys() | {
            quiet_channel(name) for name in self._listeners.keys() - self._text_channels
        }
        fresh, stale = sorted(goal - channels), sorted(channels - goal)
        self._live_channels -= set(stale)
        for start in range(0, len(fresh), CHANNELS_AT_ONCE):
            await pubsub.subscribe(*fresh[start : start + CHANNELS_AT_ONCE])
        for start in range(0, len(stale), CHANNELS_AT_ONCE):
            await pubsub.unsubscribe(*stale[start : start + CHANNELS_AT_ONCE])
        return goal

    def _hand_on(self, message: Mapping[str, object] | None) -> None:
        if message is None or not isinstance(message["channel"], bytes):
            return
        channel = message["channel"].decode(errors="replace")
        listener = self._listeners.get(channel)
        if listener is None:
            return
        if message["type"] == "subscribe":
            # Redis has subscribed us when it says so. redis-py also subscribes again in silence, and the notice alone
            # tells of the gap.
            self._live_channels.add(channel)
            listener.look_again()
        elif event := _parse_event(message):
            listener.receive(event)


def _parse_event(message: Mapping[str, object]) -> Event | None:
    data = message["data"]
    if message["type"] != "message" or not isinstance(data, bytes):
        return None
    try:
        return Event.from_json(data)
    except (ValueError, KeyError, TypeError):
        return None  # Somebody else's message; a gap it may leave is found in Postgres.
