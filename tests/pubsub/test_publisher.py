import asyncio
import time
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from chiron_workers.errors import ConfigurationError
from chiron_workers.ids import new_id
from chiron_workers.pubsub.channels import run_channel
from chiron_workers.pubsub.publisher import DELTAS_FROM, EVENTS_MAX, Publisher
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


async def test_a_dead_redis_costs_the_publisher_no_time(mortal, open_publisher):
    url = mortal.url
    mortal.kill()
    event = Event(new_id(), new_id(), 1, EventKind.TOOL_CALLED, NOON, {})
    async with open_publisher(url) as out:
        started = time.monotonic()
        for _ in range(EVENTS_MAX * 2):
            out.publish(event)
        assert time.monotonic() - started < 10


async def test_the_publisher_goes_on_after_an_outage(mortal, open_publisher):
    run_id = new_id()
    event = Event(new_id(), run_id, 1, EventKind.TOOL_CALLED, NOON, {})
    url = mortal.url
    async with open_publisher(url) as out, asyncio.timeout(60):
        await asyncio.to_thread(mortal.kill)
        out.publish(event)
        await asyncio.to_thread(mortal.start)
        async with Redis.from_url(url) as redis, redis.pubsub() as pubsub:
            await pubsub.subscribe(run_channel(run_id))
            message = None
            while message is None or message["type"] != "message":
                out.publish(event)
                message = await pubsub.get_message(timeout=0.1)
    assert Event.from_json(message["data"]) == event


async def test_text_deltas_are_dropped_before_events(mortal, open_publisher):
    url = mortal.url
    mortal.kill()
    run_id = new_id()
    delta = Event(new_id(), run_id, None, EventKind.TEXT_DELTA, NOON, {"text": "a"})
    event = Event(new_id(), run_id, 1, EventKind.TOOL_CALLED, NOON, {})
    async with open_publisher(url) as out:
        for _ in range(DELTAS_FROM * 2):
            out.publish(delta)
        out.publish(event)
        assert len(out._queue) == DELTAS_FROM + 1
        assert out._queue[-1][0] == event


def test_a_redis_url_that_is_none_is_named():
    with pytest.raises(ConfigurationError, match="CHIRON_REDIS_URL"):
        Publisher("nonsense")
