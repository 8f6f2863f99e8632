"""Hints to workers over a real Valkey, which may be away and come back."""

import asyncio
from contextlib import aclosing, suppress
from uuid import UUID

from redis.asyncio import Redis

from chiron_workers.ids import new_id
from chiron_workers.pubsub.signals import CHANNEL, notify, signals


async def heard(redis_url: str, into: "asyncio.Queue[UUID]") -> None:
    async with aclosing(signals(redis_url)) as coming:
        async for steered in coming:
            into.put_nowait(steered)


async def told_until_heard(redis_url: str, into: "asyncio.Queue[UUID]", steered: UUID) -> None:
    """Hints are lost while nobody listens, so they are repeated here until one arrives."""
    async with asyncio.timeout(20):
        while True:
            await notify(redis_url, steered, [])
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    while await into.get() != steered:
                        pass
                    return


async def test_a_listener_hears_again_after_its_connection_broke(valkey: str) -> None:
    into: asyncio.Queue[UUID] = asyncio.Queue()
    listening = asyncio.create_task(heard(valkey, into))
    try:
        await told_until_heard(valkey, into, new_id())
        async with Redis.from_url(valkey) as redis:
            assert await redis.client_kill_filter(_type="pubsub") >= 1
            await told_until_heard(valkey, into, new_id())
            await redis.publish(CHANNEL, b"\xff no id")
        await told_until_heard(valkey, into, new_id())
        assert not listening.done()
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def test_a_redis_that_is_away_fails_nobody() -> None:
    nowhere = "redis://127.0.0.1:1"
    await notify(nowhere, new_id(), [])
    await notify("", new_id(), [])
    listening = asyncio.create_task(heard(nowhere, asyncio.Queue()))
    done, _ = await asyncio.wait({listening}, timeout=0.5)
    assert not done
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
