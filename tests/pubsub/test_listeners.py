"""Words of runs are published only while somebody hears them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis
from support.committed_events import batch_of

from chiron_workers.ids import new_id
from chiron_workers.pubsub import listeners
from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.pubsub.listeners import Listeners
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@asynccontextmanager
async def opened(redis_url: str) -> AsyncIterator[Listeners]:
    listeners = Listeners(redis_url)
    yield listeners
    await listeners.close()


async def until(is_heard: Callable[[], bool], value: bool) -> None:
    async with asyncio.timeout(60):
        while is_heard() is not value:
            await asyncio.sleep(0.01)


async def looks(redis: Redis, count: int = 2) -> None:
    """Wait until so many looks more have been taken."""
    goal = await statements(redis) + count
    async with asyncio.timeout(60):
        while await statements(redis) < goal:
            await asyncio.sleep(0.01)


async def statements(redis: Redis) -> int:
    statistics = await redis.info("commandstats")
    return int(statistics.get("cmdstat_pubsub|numsub", {"calls": 0})["calls"])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "LOOK_S", 0.05)


@pytest.mark.parametrize("is_batch", [True, False])
async def test_a_program_that_subscribes_to_a_documented_channel_is_a_listener(valkey, is_batch):
    batch_id, run_id = new_id(), new_id()
    async with opened(valkey) as looking, Redis.from_url(valkey) as redis:
        is_heard = looking.audience_of(batch_id, run_id)
        assert not is_heard()
        await looks(redis)
        assert not is_heard()
        async with redis.pubsub() as pubsub:
            await pubsub.subscribe(batch_channel(batch_id) if is_batch else run_channel(run_id))
            await until(is_heard, True)
        await until(is_heard, False)


async def test_who_watches_without_words_is_none_until_somebody_wants_them(pool, valkey):
    batch_id, run_ids = await batch_of(pool, 2)
    async with opened(valkey) as looking, Redis.from_url(valkey) as redis:
        is_heard = looking.audience_of(batch_id, run_ids[0])
        assert not is_heard()
        streams = Streams(pool, valkey)
        async with await streams.open(batch_id=batch_id), streams.changes(batch_id=batch_id):
            await subscribed(redis, batch_channel(batch_id))
            await looks(redis)
            assert not is_heard()
            async with await streams.open(batch_id=batch_id, with_text=True):
                await until(is_heard, True)
            await until(is_heard, False)
            async with await Streams(pool, valkey).open(run_id=run_ids[0], with_text=True):
                await until(is_heard, True)


async def subscribed(redis: Redis, channel: str) -> None:
    async with asyncio.timeout(60):
        while (await redis.pubsub_numsub(channel))[0][1] == 0:
            await asyncio.sleep(0.01)


async def test_a_subscriber_by_a_pattern_is_known_from_what_publications_reach(valkey):
    event = Event(new_id(), new_id(), 1, EventKind.TOOL_CALLED, NOON, {})
    async with opened(valkey) as looking, Redis.from_url(valkey) as redis, redis.pubsub() as pubsub:
        publisher = Publisher(valkey, on_receivers=looking.record)
        is_heard = looking.audience_of(event.batch_id, event.run_id)
        await pubsub.psubscribe(f"chiron:run:{str(event.run_id)[:20]}*")
        assert not is_heard()
        await looks(redis)
        assert not is_heard()
        publisher.publish(event)
        await until(is_heard, True)
        await looks(redis)
        assert is_heard()
        await pubsub.punsubscribe()
        publisher.publish(event)
        await until(is_heard, False)
        await publisher.close()


async def test_listeners_are_counted_again_after_an_outage_of_redis(mortal):
    batch_id, run_id = new_id(), new_id()
    async with opened(mortal.url) as looking:
        is_heard = looking.audience_of(batch_id, run_id)
        await asyncio.to_thread(mortal.kill)
        assert not is_heard()
        await asyncio.to_thread(mortal.start)
        async with Redis.from_url(mortal.url) as redis, redis.pubsub() as pubsub:
            await pubsub.subscribe(run_channel(run_id))
            await until(is_heard, True)


async def test_where_redis_may_not_be_asked_everybody_is_taken_for_a_listener(mortal):
    async with Redis.from_url(mortal.url) as redis:
        await redis.acl_setuser(
            "worker",
            enabled=True,
            passwords=["+x"],
            commands=["+@all", "-pubsub"],
            channels=["*"],
            keys=["*"],
        )
    url = mortal.url.replace("redis://", "redis://worker:x@")
    async with opened(url) as looking:
        await until(looking.audience_of(new_id(), new_id()), True)


async def test_the_runs_of_a_worker_are_looked_up_together_and_forgotten(valkey, monkeypatch):
    monkeypatch.setattr(listeners, "LOOKS_UNUSED_MAX", 3)
    batch_id = new_id()
    async with opened(valkey) as looking, Redis.from_url(valkey) as redis:
        before = await statements(redis)
        audiences = [looking.audience_of(batch_id, new_id()) for _ in range(300)]
        assert {is_heard() for is_heard in audiences} == {False}
        await looks(redis, 1)
        assert await statements(redis) - before < 10
        async with asyncio.timeout(60):
            while looking._channels:
                await asyncio.sleep(0.01)


async def test_without_redis_nobody_listens():
    async with opened("") as looking:
        assert not looking.audience_of(new_id(), new_id())()
