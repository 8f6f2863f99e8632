import asyncio
import signal
from contextlib import aclosing
from datetime import UTC, datetime

import psutil
import pytest
from redis.asyncio import Redis
from support.committed_events import assert_gapless, batch_of, happen, listening, tail, until, work

from benchmarks.patient_postgres import PostgresServer, get_server
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.migrate import migrate
from chiron_workers.errors import NotFound
from chiron_workers.ids import new_id
from chiron_workers.pubsub import surveyor
from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.runs.events import Event, heads
from chiron_workers.states import EventKind

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


async def collect(pool: Pool, redis_url: str, **what) -> list[Event]:
    async with asyncio.timeout(60):
        return [event async for event in tail(pool, redis_url, **what)]


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter intervals than people need; what happens in them is the same."""
    monkeypatch.setattr(surveyor, "READ_AGAIN_S", 0.3)
    monkeypatch.setattr(surveyor, "POLL_S", 0.1)


@pytest.fixture
def long_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No second look into Postgres: what comes quickly came through Redis."""
    monkeypatch.setattr(surveyor, "READ_AGAIN_S", 60.0)


async def test_a_finished_batch_is_told_from_its_first_event_and_ends(pool, valkey, chance):
    batch_id, run_ids = await batch_of(pool, 3)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=5)
    seen = await collect(pool, valkey, batch_id=batch_id)
    assert_gapless(seen, run_ids, last=7)
    assert next(event.kind for event in seen if event.run_id == run_ids[0]) == EventKind.RUN_QUEUED


async def test_a_run_is_told_after_the_seq_that_is_known(pool, valkey, chance):
    _, (run_id,) = await batch_of(pool, 1)
    await work(pool, run_id, chance, events=5)
    assert [event.seq for event in await collect(pool, valkey, run_id=run_id, after=4)] == [5, 6, 7]


async def test_what_is_published_arrives_without_another_look_into_postgres(
    pool, valkey, long_looks, open_publisher, chance
):
    batch_id, run_ids = await batch_of(pool, 3)
    async with open_publisher(valkey) as out, asyncio.timeout(60):
        watching = asyncio.create_task(collect(pool, valkey, batch_id=batch_id))
        await listening(valkey, batch_channel(batch_id))
        await asyncio.gather(
            *(work(pool, run_id, chance, events=20, publish=out.publish) for run_id in run_ids[:2])
        )
        # The batch is over with this one and not before, whenever the watcher had its first look.
        out.publish(await happen(pool, run_ids[0], EventKind.BATCH_COMPLETED, state="completed", opens=-1))
        seen = await watching
    assert [event.seq for event in seen if event.run_id == run_ids[0]] == list(range(1, 24))


async def test_a_run_that_was_reopened_is_told_to_its_new_end(pool, valkey, quick_looks, chance):
    batch_id, (run_id,) = await batch_of(pool, 1)
    watching = asyncio.create_task(collect(pool, valkey, run_id=run_id))
    await happen(pool, run_id, EventKind.RUN_COMPLETED, state="queued")  # a message came before the end
    await work(pool, run_id, chance, events=3)
    assert [event.seq for event in await watching] == [1, 2, 3, 4, 5, 6]
    assert len(await collect(pool, valkey, batch_id=batch_id)) == 6


async def test_events_that_are_published_out_of_order_or_twice_are_told_once_in_order(
    pool, valkey, long_looks, open_publisher, chance
):
    _, (run_id,) = await batch_of(pool, 1)
    async with open_publisher(valkey) as out, asyncio.timeout(60):
        watching = asyncio.create_task(collect(pool, valkey, run_id=run_id))
        await listening(valkey, run_channel(run_id))
        events = [await happen(pool, run_id, EventKind.TOOL_CALLED, n=n) for n in range(20)]
        for event in chance.sample(events, 20) + events[:5]:
            out.publish(event)
        out.publish(await happen(pool, run_id, EventKind.RUN_FAILED, state="failed"))
        assert [event.seq for event in await watching] == list(range(1, 23))


async def test_a_watcher_without_redis_sees_everything_too(pool, quick_looks, chance):
    batch_id, run_ids = await batch_of(pool, 3)
    watching = asyncio.create_task(collect(pool, "", batch_id=batch_id))
    await asyncio.gather(*(work(pool, run_id, chance, events=10) for run_id in run_ids))
    assert_gapless(await watching, run_ids, last=12)


async def test_no_event_is_missed_or_doubled_when_redis_is_killed_and_comes_back(
    pool, mortal, quick_looks, open_publisher, chance
):
    url = mortal.url
    batch_id, run_ids = await batch_of(pool, 8)
    async with open_publisher(url) as out:
        watching = asyncio.create_task(collect(pool, url, batch_id=batch_id))
        working = asyncio.gather(
            *(work(pool, run_id, chance, events=150, publish=out.publish) for run_id in run_ids)
        )
        for _ in range(3):
            mortal.kill()
            await asyncio.to_thread(mortal.start)
        await working
        seen = await watching
    assert_gapless(seen, run_ids, last=152)


async def test_a_watcher_hears_redis_again_after_it_was_away(
    pool, mortal, long_looks, monkeypatch, open_publisher
):
    monkeypatch.setattr(surveyor, "POLL_S", 0.1)
    url = mortal.url
    _, (run_id,) = await batch_of(pool, 1)
    async with open_publisher(url) as out, asyncio.timeout(60):
        watching = asyncio.create_task(collect(pool, url, run_id=run_id))
        await listening(url, run_channel(run_id))
        mortal.kill()
        await asyncio.to_thread(mortal.start)
        await listening(url, run_channel(run_id))
        out.publish(await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed"))
        assert [event.seq for event in await watching] == [1, 2]


async def test_a_dropped_connection_that_redis_py_mends_in_silence_leaves_no_gap(
    pool, valkey, long_looks, open_publisher
):
    _, (run_id,) = await batch_of(pool, 1)
    async with open_publisher(valkey) as out, Redis.from_url(valkey) as admin, asyncio.timeout(60):
        watching = asyncio.create_task(collect(pool, valkey, run_id=run_id))
        await listening(valkey, run_channel(run_id))
        await happen(pool, run_id, EventKind.TOOL_CALLED)  # committed, never published
        await admin.client_kill_filter(_type="pubsub")
        out.publish(await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed"))
        assert [event.seq for event in await watching] == [1, 2, 3]


async def test_no_event_is_missed_or_doubled_when_postgres_restarts(
    valkey, short_dir, quick_looks, open_publisher, chance
):
    server = get_server(short_dir / "own-pg", cleanup_mode="stop")
    migrate(server.get_uri())
    async with open_pool(server.get_uri(), size=4) as own_pool, open_publisher(valkey) as out:
        batch_id, run_ids = await batch_of(own_pool, 3)
        watching = asyncio.create_task(collect(own_pool, valkey, batch_id=batch_id))
        working = asyncio.gather(
            *(work(own_pool, run_id, chance, events=60, publish=out.publish) for run_id in run_ids)
        )
        await asyncio.to_thread(restart, server)
        await working
        seen = await watching
        # A commit whose answer was lost in the crash is made twice by this writer; what counts is what is stored.
        stored = (await heads(own_pool, batch_id=batch_id)).seqs
    server.cleanup()
    for run_id in run_ids:
        assert_gapless(seen, [run_id], last=stored[run_id])


def restart(server: PostgresServer) -> None:
    process = psutil.Process(server.get_pid())
    process.send_signal(signal.SIGQUIT)  # an immediate shutdown, as after a crash
    process.wait(90)
    server.ensure_postgres_running()


async def test_text_deltas_are_passed_on_to_those_who_ask_and_never_stored(
    pool, valkey, long_looks, open_publisher
):
    batch_id, (run_id,) = await batch_of(pool, 1)
    seen: list[Event] = []

    async def watch() -> None:
        async for event in tail(pool, valkey, run_id=run_id, with_text=True):
            seen.append(event)

    async with open_publisher(valkey) as out, asyncio.timeout(60):
        watching = asyncio.create_task(watch())
        await until(lambda: seen)
        delta = Event(batch_id, run_id, None, EventKind.TEXT_DELTA, seen[0].at, {"text": "Es ist größer"})
        out.publish(delta)
        await until(lambda: delta in seen)
        out.publish(await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed"))
        await watching
    assert delta not in await collect(pool, valkey, run_id=run_id)


async def test_messages_of_others_on_the_channel_are_passed_over(pool, valkey, long_looks, open_publisher):
    _, (run_id,) = await batch_of(pool, 1)
    async with open_publisher(valkey) as out, Redis.from_url(valkey) as stranger, asyncio.timeout(60):
        watching = asyncio.create_task(collect(pool, valkey, run_id=run_id))
        await listening(valkey, run_channel(run_id))
        for rubbish in (b"\xff\x00", b"{}", b"[1]", b'{"batch_id": 3}', b"null"):
            await stranger.publish(run_channel(run_id), rubbish)
        out.publish(await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed"))
        assert [event.seq for event in await watching] == [1, 2]


async def test_an_unknown_id_is_said_to_be_unknown(pool, valkey):
    with pytest.raises(NotFound, match="There is no batch"):
        await collect(pool, valkey, batch_id=new_id())


async def test_a_watcher_may_leave_early(pool, valkey):
    batch_id, _ = await batch_of(pool, 1)
    async with aclosing(tail(pool, valkey, batch_id=batch_id)) as events:
        assert (await anext(events)).kind == EventKind.RUN_QUEUED
