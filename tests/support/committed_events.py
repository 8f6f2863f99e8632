"""Events as workers commit them: with the counter of their run, in one transaction."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from random import Random
from uuid import UUID

import psycopg
from psycopg.types.json import Json
from psycopg_pool import PoolTimeout
from redis.asyncio import Redis

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_outage
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

HAPPEN = """
with run as (
  update runs set seq = seq + 1, state = %(state)s where id = %(run_id)s returning id, seq, batch_id),
closed as (
  update batches set open_runs = open_runs + %(opens)s from run where batches.id = run.batch_id and %(opens)s <> 0)
insert into events (run_id, seq, batch_id, kind, data) select id, seq, batch_id, %(kind)s, %(data)s from run
returning batch_id, run_id, seq, kind, at, data
"""


async def happen(
    pool: Pool, run_id: UUID, kind: EventKind, *, state: str = "running", opens: int = 0, n: int = 0
) -> Event:
    """Commit an event of a run together with what it changes in the run and its batch."""
    args = {"run_id": run_id, "kind": kind, "state": state, "opens": opens, "data": Json({"n": n})}
    async with pool.connection() as connection:
        row = await (await connection.execute(HAPPEN, args)).fetchone()
    assert row is not None
    return Event(**{name: row[name] for name in Event.__slots__})


async def work(pool: Pool, run_id: UUID, chance: Random, *, events: int, publish: object = None) -> None:
    """A run from its start to its end, with random waits; some of its events are never published."""
    for n in range(events):
        event = await patiently(happen, pool, run_id, EventKind.TOOL_CALLED, n=n)
        if callable(publish) and chance.random() > 0.1:
            publish(event)
        await asyncio.sleep(chance.random() * 0.01)
    event = await patiently(happen, pool, run_id, EventKind.RUN_COMPLETED, state="completed", opens=-1)
    if callable(publish):
        publish(event)


async def patiently(step, *args, **kwargs):
    while True:
        try:
            return await step(*args, **kwargs)
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error):
                raise
            await asyncio.sleep(0.05)


async def tail(
    pool: Pool,
    redis_url: str,
    *,
    batch_id: UUID | None = None,
    run_id: UUID | None = None,
    after: int = 0,
    with_text: bool = False,
) -> AsyncGenerator[Event]:
    """All events of a run or a batch, of a run those after a seq, until its end."""
    position = str(after) if run_id and after else None
    stream = await Streams(pool, redis_url).open(
        batch_id=batch_id, run_id=run_id, after=position, with_text=with_text
    )
    async with stream, aclosing(stream.events()) as events:
        async for event in events:
            yield event


async def batch_of(pool: Pool, runs: int) -> tuple[UUID, list[UUID]]:
    topics = [NewRun(f"topic {n}", "research", "Tests", "offline", 10) for n in range(runs)]
    found = await submit(pool, NewBatch(topics, "Tests"))
    return found.batch_id, found.run_ids


def assert_gapless(seen: list[Event], run_ids: list[UUID], *, last: int) -> None:
    for run_id in run_ids:
        assert [event.seq for event in seen if event.run_id == run_id] == list(range(1, last + 1))


async def until(condition, *, timeout_s: float = 60) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # what is awaited happens in another process
            await asyncio.sleep(0.01)


async def listening(redis_url: str, channel: str) -> None:
    """Wait until somebody has subscribed to the channel and had its first look."""
    async with Redis.from_url(redis_url) as redis, asyncio.timeout(60):
        while not (await redis.pubsub_numsub(channel))[0][1]:  # asked of Redis
            await asyncio.sleep(0.01)
