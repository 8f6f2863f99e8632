"""Streams of one process: resumed by id, shared, and none in the way of another."""

import asyncio
from collections import Counter
from contextlib import aclosing
from random import Random
from uuid import UUID

import pytest
from psycopg.types.json import Json
from redis.asyncio import Redis
from support.committed_events import HAPPEN, assert_gapless, batch_of, happen, listening, until, work
from support.executed_statements import executed_statements
from support.scripted_model import call, calls, says, turn

from chiron_workers.batches.delete import delete
from chiron_workers.db.connect import Pool
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.pubsub import feeds, history, surveyor
from chiron_workers.pubsub.channels import batch_channel, run_channel
from chiron_workers.pubsub.feeds import Feed, StreamedEvent, Watcher
from chiron_workers.pubsub.history import Reads
from chiron_workers.pubsub.positions import cursor_text, survey
from chiron_workers.pubsub.streams import Stream, Streams
from chiron_workers.pubsub.surveyor import Surveyor
from chiron_workers.states import EventKind, Outcome


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, queues and groups of few, so that a short batch has many; and short intervals."""
    monkeypatch.setattr(history, "PAGE_EVENTS", 6)
    monkeypatch.setattr(history, "GROUP_RUNS", 3)
    monkeypatch.setattr(feeds, "QUEUE_MAX", 4)
    monkeypatch.setattr(surveyor, "READ_AGAIN_S", 0.2)
    monkeypatch.setattr(surveyor, "POLL_S", 0.05)


async def read_some(streams: Streams, count: int, **target) -> list[StreamedEvent]:
    """The next events, at most so many, as a client that then hangs up."""
    items: list[StreamedEvent] = []
    async with await streams.open(**target) as stream, aclosing(stream.pages()) as pages:
        async for page in pages:
            items += page
            if len(items) >= count:
                break
    return items[:count]


async def read_in_pieces(pool: Pool, redis_url: str, chance: Random, **target) -> list[StreamedEvent]:
    """All events, as a client that is cut off again and again and goes on at another process each time."""
    items: list[StreamedEvent] = []
    after = None
    async with asyncio.timeout(60):
        while True:
            async with await Streams(pool, redis_url).open(after=after, **target) as stream:
                if after is not None and stream.is_at_end:
                    return items
            items += await read_some(Streams(pool, redis_url), chance.randint(1, 25), after=after, **target)
            after = items[-1].id


async def test_a_stream_of_a_batch_goes_on_after_each_id_it_has_sent(pool, valkey, small_pages, chance):
    batch_id, run_ids = await batch_of(pool, 7)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=chance.randint(1, 6))
    streams = Streams(pool, valkey)
    items = await read_some(streams, 1_000, batch_id=batch_id)
    ids = [(item.event.run_id, item.event.seq) for item in items]
    assert len(items) == len(set(ids))
    for position, item in enumerate(items[:-1]):
        rest = await read_some(streams, 1_000, batch_id=batch_id, after=item.id)
        assert [(entry.event.run_id, entry.event.seq) for entry in rest] == ids[position + 1 :]
    async with await streams.open(batch_id=batch_id, after=items[-1].id) as stream:
        assert stream.is_at_end


@pytest.mark.parametrize("kind", ["run", "batch"])
async def test_a_stream_is_not_at_its_end_while_final_events_are_still_read(pool, valkey, kind):
    """A survey says that a run is over before its last events are read: who connects in between must not be sent away."""
    batch_id, [run_id] = await batch_of(pool, 1)
    target = {"run_id": run_id, "batch_id": None} if kind == "run" else {"run_id": None, "batch_id": batch_id}
    first = await read_some(Streams(pool, valkey), 1, **target)
    feed = Feed(request=lambda feed: None, **target)
    feed.cursor_text = await cursor_text(pool, batch_id)
    targets = {f"{name}s": [value] if value else [] for name, value in target.items()}
    begin = await survey(pool, since=None, **targets)
    feed.begin(begin.snapshot, begin.heads[feed.target_id])
    await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed", opens=-1)
    end = await survey(pool, since=begin.snapshot, **targets)
    feed.apply(end.snapshot, end.heads[feed.target_id])
    assert feed.is_over
    stream = Stream(Surveyor(pool, valkey), Reads(pool), feed, Watcher(with_text=False))
    await stream.begin(first[-1].id)
    assert not stream.is_at_end
    feed.give_up(run_id)  # which is as good as reading them
    await stream.begin(str(feed.seqs[0]) if kind == "run" else feed.cursor_text.live(feed.position))
    assert stream.is_at_end


@pytest.mark.parametrize("has_redis", [True, False])
async def test_clients_that_are_cut_off_while_runs_commit_in_any_order_get_each_event_once(
    pool, valkey, small_pages, open_publisher, has_redis, chance
):
    batch_id, run_ids = await batch_of(pool, 9)
    async with open_publisher(valkey) as out:
        clients = [
            asyncio.create_task(read_in_pieces(pool, valkey if has_redis else "", chance, batch_id=batch_id))
            for _ in range(4)
        ]
        await asyncio.gather(
            *(work(pool, run_id, chance, events=40, publish=out.publish) for run_id in run_ids)
        )
        for client in clients:
            items = await client
            assert_gapless([item.event for item in items], run_ids, last=42)


async def test_an_event_that_commits_late_comes_after_ids_that_were_sent_before(pool, valkey, small_pages):
    batch_id, (late_id, other_id) = await batch_of(pool, 2)
    streams = Streams(pool, valkey)
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(HAPPEN, late_event(late_id))  # has a number and a time, while others commit
        for n in range(3):
            await happen(pool, other_id, EventKind.TOOL_CALLED, n=n)
        early = await read_some(streams, 5, batch_id=batch_id)
    assert Counter(item.event.run_id for item in early) == {late_id: 1, other_id: 4}
    await happen(pool, other_id, EventKind.TOOL_CALLED)
    rest = await read_some(streams, 2, batch_id=batch_id, after=early[-1].id)
    assert {(item.event.run_id, item.event.seq) for item in rest} == {(late_id, 2), (other_id, 5)}


def late_event(run_id: UUID) -> dict[str, object]:
    return {"run_id": run_id, "kind": EventKind.TOOL_CALLED, "state": "running", "opens": 0, "data": Json({})}


async def test_no_event_is_written_within_a_savepoint(stage):
    """A snapshot says nothing of savepoints, so the transaction of an event has to be a whole one."""
    async with stage.pool.connection() as connection:
        await connection.execute("alter table events add column whole xid8")
        await connection.execute("alter table events alter column whole set default pg_current_xact_id()")
    await stage.model(
        lambda request: calls(call("note", words="moss")) if turn(request) == 0 else says("Moss.")
    )
    for run_id in await stage.submit("moss", "ferns"):
        assert await stage.play(run_id) is Outcome.PLAYED
        assert {"run.started", "model.replied", "node.saved", "run.completed"} <= set(
            await stage.kinds(run_id)
        )
    rows = await stage.rows(
        "select kind from events where xmin::text::bigint is distinct from (whole::text::bigint & 4294967295)"
    )
    assert rows == []


async def test_all_streams_of_a_process_use_one_connection_to_redis(pool, valkey, open_publisher, chance):
    batch_id, run_ids = await batch_of(pool, 20)
    streams = Streams(pool, valkey)
    targets = [{"batch_id": batch_id}] * 20 + [{"run_id": run_id} for run_id in run_ids]
    async with asyncio.timeout(60), Redis.from_url(valkey) as redis, open_publisher(valkey) as out:
        before = len(await redis.client_list(_type="pubsub"))
        readers = [asyncio.create_task(read_some(streams, 1_000, **target)) for target in targets]
        for channel in (batch_channel(batch_id), *map(run_channel, run_ids)):
            await listening(valkey, channel)
        assert len(await redis.client_list(_type="pubsub")) == before + 1
        await asyncio.gather(
            *(work(pool, run_id, chance, events=3, publish=out.publish) for run_id in run_ids)
        )
        for reader, target in zip(readers, targets, strict=True):
            events = [item.event for item in await reader]
            assert_gapless(events, [target["run_id"]] if "run_id" in target else run_ids, last=5)
        while len(await redis.client_list(_type="pubsub")) > before:  # closed with the last stream
            await asyncio.sleep(0.01)


async def test_a_reader_that_stands_still_holds_nobody_up_and_misses_nothing(
    pool, valkey, small_pages, open_publisher, chance
):
    batch_id, run_ids = await batch_of(pool, 3)
    streams = Streams(pool, valkey)
    async with (
        asyncio.timeout(60),
        open_publisher(valkey) as out,
        await streams.open(batch_id=batch_id) as slow,
        aclosing(slow.pages()) as pages,
    ):
        items = await anext(pages)
        quick = asyncio.create_task(read_some(streams, 1_000, batch_id=batch_id))
        await asyncio.gather(
            *(work(pool, run_id, chance, events=30, publish=out.publish) for run_id in run_ids)
        )
        assert_gapless([item.event for item in await quick], run_ids, last=32)
        assert len(slow._watcher.queue) <= feeds.QUEUE_MAX
        async for page in pages:
            items = items + page
    assert_gapless([item.event for item in items], run_ids, last=32)


async def test_a_feed_that_lags_far_behind_leaves_the_reading_to_its_watchers(
    pool, small_pages, monkeypatch, chance
):
    monkeypatch.setattr(feeds, "LAG_MAX", 5)
    batch_id, run_ids = await batch_of(pool, 3)
    watching = asyncio.create_task(read_some(Streams(pool, ""), 1_000, batch_id=batch_id))
    await asyncio.gather(*(work(pool, run_id, chance, events=30) for run_id in run_ids))
    assert_gapless([item.event for item in await watching], run_ids, last=32)


async def test_more_runs_than_an_id_has_room_for_are_read_by_a_new_snapshot(
    pool, valkey, small_pages, monkeypatch, open_publisher, chance
):
    monkeypatch.setattr(feeds, "EXCEPTIONS_MAX", 3)
    monkeypatch.setattr(feeds, "EXCEPTIONS_WISH", 2)
    batch_id, run_ids = await batch_of(pool, 12)
    async with open_publisher(valkey) as out:
        client = asyncio.create_task(read_in_pieces(pool, valkey, chance, batch_id=batch_id))
        await asyncio.gather(
            *(work(pool, run_id, chance, events=15, publish=out.publish) for run_id in run_ids)
        )
        assert_gapless([item.event for item in await client], run_ids, last=17)


async def test_equal_readers_share_their_reads_of_postgres(pool, valkey, monkeypatch, chance):
    batch_id, run_ids = await batch_of(pool, 3)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=2)
    reads = 0
    read_page = history.read_page

    async def counted(*args, **kwargs):
        nonlocal reads
        reads += 1
        return await read_page(*args, **kwargs)

    monkeypatch.setattr(history, "read_page", counted)
    streams = Streams(pool, valkey)
    for items in await asyncio.gather(*(read_some(streams, 1_000, batch_id=batch_id) for _ in range(50))):
        assert_gapless([item.event for item in items], run_ids, last=4)
    assert reads == 1


async def test_after_a_run_of_the_batch_was_deleted_no_event_of_the_others_is_missing(
    pool, valkey, small_pages, chance
):
    batch_id, run_ids = await batch_of(pool, 5)
    for run_id in run_ids[:3]:
        await work(pool, run_id, chance, events=4)
    early = await read_some(Streams(pool, valkey), 15, batch_id=batch_id)
    await delete(pool, run_ids[0])
    for run_id in run_ids[3:]:
        await work(pool, run_id, chance, events=4)
    rest = await read_some(Streams(pool, valkey), 1_000, batch_id=batch_id, after=early[-1].id)
    seen = {(item.event.run_id, item.event.seq) for item in early + rest}
    assert seen >= {(run_id, seq) for run_id in run_ids[1:] for seq in range(1, 7)}


async def test_an_id_of_another_batch_or_of_nobody_is_refused(pool, valkey):
    batch_id, _ = await batch_of(pool, 1)
    other_id, _ = await batch_of(pool, 1)
    streams = Streams(pool, valkey)
    [item] = await read_some(streams, 1, batch_id=other_id)
    for text in (item.id, "x", "", "A" * 20_000, "_" * 40, "ä"):
        with pytest.raises(UsageError):
            await streams.open(batch_id=batch_id, after=text)


async def test_a_batch_that_is_deleted_ends_its_streams(pool, valkey, small_pages):
    batch_id, (run_id,) = await batch_of(pool, 1)
    streams = Streams(pool, valkey)
    async with (
        asyncio.timeout(60),
        await streams.open(batch_id=batch_id) as stream,
        aclosing(stream.pages()) as pages,
    ):
        assert len(await anext(pages)) == 1
        async with pool.connection() as connection:
            await connection.execute("delete from runs where id = %s", [run_id])
            await connection.execute("delete from batches where id = %s", [batch_id])
        with pytest.raises(NotFound):
            await anext(pages)
    with pytest.raises(NotFound):
        await streams.open(batch_id=new_id())


async def test_a_stream_waits_while_redis_and_streams_are_cut(
    pool, mortal, small_pages, open_publisher, chance
):
    batch_id, run_ids = await batch_of(pool, 4)
    async with open_publisher(mortal.url) as out:
        clients = [
            asyncio.create_task(read_in_pieces(pool, mortal.url, chance, batch_id=batch_id)) for _ in range(3)
        ]
        working = asyncio.gather(
            *(work(pool, run_id, chance, events=60, publish=out.publish) for run_id in run_ids)
        )
        for _ in range(2):
            mortal.kill()
            await asyncio.to_thread(mortal.start)
        await working
        for client in clients:
            assert_gapless([item.event for item in await client], run_ids, last=62)


async def test_the_text_of_a_reply_has_no_id_and_comes_to_those_who_ask(pool, valkey, open_publisher):
    batch_id, (run_id,) = await batch_of(pool, 1)
    streams = Streams(pool, valkey)
    async with open_publisher(valkey) as out, asyncio.timeout(60):
        with_text = asyncio.create_task(read_some(streams, 3, batch_id=batch_id, with_text=True))
        without = asyncio.create_task(read_some(streams, 2, batch_id=batch_id))
        await until(lambda: streams._surveyor._hub.is_live(batch_channel(batch_id)))
        event = await happen(pool, run_id, EventKind.TOOL_CALLED)
        delta = type(event)(batch_id, run_id, None, EventKind.TEXT_DELTA, event.at, {"text": "Es ist"})
        out.publish(delta)
        out.publish(event)
        assert [item.id is None for item in await with_text].count(True) == 1
        assert None not in [item.id for item in await without]


@pytest.mark.parametrize("has_redis", [True, False])
async def test_who_wants_no_events_hears_that_something_has_happened(
    pool, valkey, small_pages, open_publisher, has_redis
):
    batch_id, (run_id,) = await batch_of(pool, 1)
    streams = Streams(pool, valkey if has_redis else "")
    async with (
        asyncio.timeout(60),
        open_publisher(valkey) as out,
        streams.changes(batch_id=batch_id) as change,
    ):
        await change.wait()  # it has begun
        for _ in range(3):
            waiting = asyncio.create_task(change.wait())
            await asyncio.sleep(0)
            assert not waiting.done()
            out.publish(await happen(pool, run_id, EventKind.TOOL_CALLED))
            await waiting


async def test_streams_that_go_on_at_the_same_id_read_the_way_there_once_in_a_second(
    pool, valkey, chance, monkeypatch
):
    batch_id, run_ids = await batch_of(pool, 3)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=2)
    streams = Streams(pool, valkey)
    items = await read_some(streams, 1, batch_id=batch_id)
    statements = executed_statements(monkeypatch)
    began = asyncio.get_running_loop().time()
    opened = await asyncio.gather(*(streams.open(batch_id=batch_id, after=items[0].id) for _ in range(20)))
    for stream in opened:
        stream.close()
    seconds = asyncio.get_running_loop().time() - began
    assert 1 <= statements.count_of("pg_visible_in_snapshot") <= 2 + seconds
