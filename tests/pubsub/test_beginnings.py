"""Streams that begin with a snapshot: what it says and what follows is everything, once."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from random import Random
from uuid import UUID

import pytest
from support.committed_events import batch_of, happen, work

from chiron_workers.db.connect import Pool
from chiron_workers.pubsub import feeds, history, surveyor
from chiron_workers.pubsub.beginnings import Beginning
from chiron_workers.pubsub.feeds import StreamedEvent
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.events import heads
from chiron_workers.states import EventKind


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, queues and groups of few, so that a short batch has many; and short intervals."""
    monkeypatch.setattr(history, "PAGE_EVENTS", 6)
    monkeypatch.setattr(history, "GROUP_RUNS", 3)
    monkeypatch.setattr(feeds, "QUEUE_MAX", 4)
    monkeypatch.setattr(surveyor, "READ_AGAIN_S", 0.2)
    monkeypatch.setattr(surveyor, "POLL_S", 0.05)


async def begun(
    streams: Streams, recent: int, *, count: int = 1_000_000, **target: object
) -> tuple[Beginning, list[StreamedEvent]]:
    """Where a stream began, and the events that followed, at most so many."""
    items: list[StreamedEvent] = []
    async with await streams.open(recent=recent, **target) as stream, aclosing(stream.pages()) as pages:  # type: ignore[arg-type]
        assert stream.beginning
        while len(items) < count and (page := await anext(pages, None)):
            items += page
        return stream.beginning, items[:count]


def numbers(items: Sequence[StreamedEvent]) -> list[tuple[UUID, int | None]]:
    return [(item.event.run_id, item.event.seq) for item in items]


def assert_rest(items: Sequence[StreamedEvent], seqs: dict[UUID, int]) -> None:
    """Each run's events are its last ones, in order of seq, none twice."""
    for run_id, seq in seqs.items():
        mine = [item.event.seq for item in items if item.event.run_id == run_id]
        assert mine == list(range(seq - len(mine) + 1, seq + 1))


async def test_the_last_events_come_in_order_of_time_and_the_sums_say_what_came_before(pool, valkey):
    batch_id, run_ids = await batch_of(pool, 5)
    for n in range(40):
        await happen(pool, run_ids[n % 3], EventKind.TOOL_CALLED, n=n)
    await happen(pool, run_ids[0], EventKind.RUN_COMPLETED, state="completed", opens=-1)
    beginning, items = await begun(Streams(pool, valkey), 10, count=10, batch_id=batch_id)
    assert beginning.sums.runs == {
        "queued": 2, "running": 2, "paused": 0, "completed": 1, "failed": 0, "cancelled": 0,
    }  # fmt: skip
    assert (beginning.sums.events, beginning.sums.left_out) == (46, 36)
    assert [item.event.data["n"] for item in items] == [*range(31, 40), 0]
    assert [item.event.at for item in items] == sorted(item.event.at for item in items)


async def test_each_run_is_told_of_as_it_was_in_the_snapshot_for_who_asks(pool, valkey):
    batch_id, run_ids = await batch_of(pool, 3)
    await happen(pool, run_ids[1], EventKind.RUN_STARTED)
    for target in ({"batch_id": batch_id}, {"run_id": run_ids[1]}):
        async with await Streams(pool, valkey).open(recent=5, with_runs=True, **target) as stream:
            assert stream.beginning
            runs = {run.id: (run.topic, run.state) for run in stream.beginning.runs}
        expected = {run_ids[n]: (f"topic {n}", "running" if n == 1 else "queued") for n in range(3)}
        assert runs == (expected if "batch_id" in target else {run_ids[1]: expected[run_ids[1]]})


async def test_the_stream_goes_on_after_the_snapshot_and_after_each_of_the_last_events(
    pool, valkey, small_pages, chance
):
    batch_id, run_ids = await batch_of(pool, 7)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=chance.randint(1, 6))
    streams = Streams(pool, valkey)
    beginning, items = await begun(streams, 12, batch_id=batch_id)
    assert len(items) == 12
    for position, id_ in enumerate([beginning.id, *(str(item.id) for item in items)]):
        async with (
            await streams.open(batch_id=batch_id, after=id_) as stream,
            aclosing(stream.pages()) as pages,
        ):
            assert stream.is_at_end == (position == len(items))
            rest = [item async for page in pages for item in page]
        assert Counter(numbers(rest)) == Counter(numbers(items[position:]))


async def test_events_come_in_order_of_seq_where_a_clock_was_set_back(pool, valkey):
    batch_id, run_ids = await batch_of(pool, 2)
    for n in range(8):
        await happen(pool, run_ids[n % 2], EventKind.TOOL_CALLED, n=n)
    async with pool.connection() as connection:
        query = "update events set at = at - interval '1 hour' where run_id = %s and seq > 3"
        await connection.execute(query, [run_ids[0]])
    for recent in range(1, 11):
        beginning, _ = await begun(Streams(pool, valkey), recent, count=0, batch_id=batch_id)
        assert_rest(beginning.recent, dict.fromkeys(run_ids, 5))
        assert beginning.sums.left_out == 10 - len(beginning.recent)


@pytest.mark.parametrize("has_redis", [True, False])
@pytest.mark.parametrize("is_run", [False, True])
async def test_whoever_begins_while_runs_commit_gets_what_the_sums_do_not_count_and_nothing_twice(
    pool, valkey, small_pages, open_publisher, has_redis, is_run, chance
):
    """Some events are committed and never published, some published while the snapshot is taken, some before."""
    batch_id, run_ids = await batch_of(pool, 6)
    watched = run_ids[:1] if is_run else run_ids
    target = {"run_id": run_ids[0]} if is_run else {"batch_id": batch_id}
    streams = Streams(pool, valkey if has_redis else "")
    async with asyncio.timeout(90), open_publisher(valkey) as out:
        keeping = asyncio.create_task(begun(streams, 3, **target))  # the feed is older than most snapshots
        working = asyncio.gather(
            *(work(pool, run_id, chance, events=40, publish=out.publish) for run_id in run_ids)
        )
        readers = []
        while not working.done():
            readers.append(asyncio.create_task(begun(streams, chance.randint(0, 9), **target)))
            await asyncio.sleep(chance.random() * 0.03)
        await working
        for beginning, items in await asyncio.gather(keeping, *readers):
            assert len(items) == len(set(numbers(items)))
            assert_rest(items, dict.fromkeys(watched, 42))
            assert beginning.sums.left_out == 42 * len(watched) - len(items)
            recent = beginning.sums.events - beginning.sums.left_out
            assert recent <= len(items)
    assert len(readers) > 5


async def test_an_id_that_is_further_than_the_feed_has_heard_brings_nothing_twice(pool, monkeypatch, chance):
    """As where another process has sent the id and this one looks at Postgres only now and then."""
    monkeypatch.setattr(surveyor, "POLL_S", 3_600.0)
    batch_id, run_ids = await batch_of(pool, 3)
    late = Streams(pool, "")
    async with asyncio.timeout(60), await late.open(batch_id=batch_id):
        for run_id in run_ids:
            await work(pool, run_id, chance, events=4)
        _, items = await begun(Streams(pool, ""), 5, batch_id=batch_id)
        async with await late.open(batch_id=batch_id, after=items[-2].id) as stream:
            rest = [event async for event in stream.events()]
    assert [(event.run_id, event.seq) for event in rest] == numbers(items[-1:])


async def test_an_id_that_nobody_has_sent_is_not_waited_for(pool, valkey):
    batch_id, [run_id] = await batch_of(pool, 1)
    await happen(pool, run_id, EventKind.TOOL_CALLED)
    streams = Streams(pool, valkey)
    beginning, _ = await begun(streams, 1, count=0, batch_id=batch_id)
    async with await streams.open(batch_id=batch_id) as first:
        text = first._feed.cursor_text
        position = text.parse(beginning.end_id).position
        further = type(position)(position.snapshot, position.runs, {0: 1_000})
        async with asyncio.timeout(30), await streams.open(batch_id=batch_id, after=text.live(further)):
            pass


async def test_who_comes_at_the_same_time_shares_the_snapshot(pool, valkey):
    batch_id, _ = await batch_of(pool, 4)
    streams = Streams(pool, valkey)
    results = await asyncio.gather(*(begun(streams, 4, count=4, batch_id=batch_id) for _ in range(40)))
    assert len({id(beginning) for beginning, _ in results}) <= 3  # one a second
    assert len({tuple(numbers(items)) for _, items in results}) == 1


async def test_a_pruned_run_has_no_events_and_counts_in_the_sums(pool: Pool, valkey: str, chance: Random):
    batch_id, run_ids = await batch_of(pool, 2)
    for run_id in run_ids:
        await work(pool, run_id, chance, events=1)
    async with pool.connection() as connection:
        await connection.execute("delete from events where run_id = %s", [run_ids[0]])
        await connection.execute("update runs set pruned_at = now() where id = %s", [run_ids[0]])
    beginning, items = await begun(Streams(pool, valkey), 50, batch_id=batch_id)
    assert numbers(items) == [(run_ids[1], seq) for seq in (1, 2, 3)]
    assert (beginning.sums.runs["completed"], beginning.sums.events, beginning.sums.left_out) == (2, 3, 0)
    assert (await heads(pool, batch_id=batch_id)).is_over
