"""Events and results through cuts and restarts: none missing, none twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from uuid import UUID

import pytest
from aiohttp import web
from support.api_server import api_client
from support.committed_events import assert_gapless, batch_of, happen, work
from support.http_server import served
from support.proxy import Proxy, open_proxy

from chiron_api.answers.events import RunCompleted, RunQueued, Snapshot
from chiron_api.client import NotFound, Refused, Unavailable, UnknownEvent
from chiron_workers.batches.delete import delete
from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind

RUNS, STEPS = 4, 12


@pytest.fixture
def open_api(settings: Settings) -> Settings:
    """Settings of a server that asks for no key."""
    return settings.model_copy(update={"api_without_key": True})


@pytest.fixture
async def proxy(open_api: Settings) -> AsyncIterator[Proxy]:
    """A proxy before a server that asks for no key."""
    async with api_client(open_api) as api, open_proxy(api.base_url.port or 0) as opened:
        yield opened


@pytest.fixture
async def publisher(valkey: str) -> AsyncIterator[Publisher]:
    opened = Publisher(valkey)
    yield opened
    await opened.close()


async def play(
    pool: Pool, publisher: Publisher, run_ids: list[UUID], chance: Random, *, events: int = STEPS
) -> None:
    await asyncio.gather(
        *(work(pool, run_id, chance, events=events, publish=publisher.publish) for run_id in run_ids)
    )


async def test_events_go_on_after_every_cut_of_the_connection(connect, proxy, pool, publisher, chance):
    batch_id, run_ids = await batch_of(pool, RUNS)
    proxy.bytes_before_cut = lambda: chance.randint(1_500, 6_000)
    playing = asyncio.create_task(play(pool, publisher, run_ids, chance))
    async with asyncio.timeout(120):
        events = await connect(proxy.http_url).items("events", batch_id, history=True)
    await playing
    assert_gapless(events, run_ids, last=STEPS + 2)
    assert len(events) == RUNS * (STEPS + 2)
    assert proxy.cuts > 1
    assert isinstance(events[0], RunQueued)


async def test_events_go_on_through_a_restart_of_the_api(connect, open_api, pool, publisher, chance):
    batch_id, run_ids = await batch_of(pool, RUNS)
    events = []
    async with open_proxy(0) as proxy:
        async with api_client(open_api) as api:
            proxy.upstream = api.base_url.port or 0
            shell = connect(proxy.http_url)
            stream = shell.iterate("events", batch_id, history=True)
            for run_id in run_ids:
                await happen(pool, run_id, EventKind.TOOL_CALLED)
            events = [await anext(stream) for _ in range(RUNS)]
        proxy.upstream = 1  # while nothing listens, runs go on
        following = asyncio.create_task(_rest(stream))
        await play(pool, publisher, run_ids, chance)
        async with api_client(open_api) as api, asyncio.timeout(120):
            proxy.upstream = api.base_url.port or 0
            events += await following
    assert_gapless(events, run_ids, last=STEPS + 3)
    assert len(events) == RUNS * (STEPS + 3)


async def _rest(stream) -> list:
    return [event async for event in stream]


async def test_events_of_a_run_begin_after_the_id_that_an_earlier_stream_ended_at(
    connect, proxy, pool, publisher, chance
):
    _, [run_id] = await batch_of(pool, 1)
    await play(pool, publisher, [run_id], chance, events=3)
    shell = connect(proxy.http_url)
    for after in (None, "2"):
        events = await shell.items("events", run=run_id, after=after, history=True)
        assert [event.seq for event in events] == list(range(int(after or 0) + 1, 6))
    assert await shell.items("events", run=run_id, after="5") == []


async def test_a_stream_says_where_it_is(connect, proxy, pool, publisher, chance):
    batch_id, run_ids = await batch_of(pool, 2)
    await play(pool, publisher, run_ids, chance, events=3)
    shell = connect(proxy.http_url)
    everything = await shell.items("events", batch_id, history=True)
    stream = shell.client.events(batch_id, history=True)
    assert stream.last_id is None
    first = await shell.read(stream, count=3)
    rest = await shell.items("events", batch_id, after=stream.last_id)
    assert first + rest == everything


async def test_a_stream_begins_with_a_snapshot_and_goes_on_after_it_through_every_cut(
    connect, proxy, pool, publisher, chance
):
    batch_id, run_ids = await batch_of(pool, RUNS)
    for n in range(80):
        await happen(pool, run_ids[n % RUNS], EventKind.TOOL_CALLED)
    proxy.bytes_before_cut = lambda: chance.randint(2_500, 6_000)
    playing = asyncio.create_task(play(pool, publisher, run_ids, chance))
    async with asyncio.timeout(120):
        snapshot, *events = await connect(proxy.http_url).items("events", batch_id)
    await playing
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.batch_id, snapshot.run_id, snapshot.data.facts) == (batch_id, None, 0)
    assert sum(snapshot.data.runs.values()) == RUNS
    assert len(events) == RUNS * (20 + STEPS + 2) - snapshot.data.left_out
    for run_id in run_ids:
        seqs = [event.seq for event in events if event.run_id == run_id]
        assert seqs == list(range(20 + STEPS + 2 - len(seqs) + 1, 20 + STEPS + 3))
    assert proxy.cuts > 1


async def test_a_stream_that_is_cut_after_its_snapshot_goes_on_from_there(
    connect, proxy, pool, publisher, chance
):
    for target in ("batch", "run"):
        batch_id, [run_id] = await batch_of(pool, 1)
        await play(pool, publisher, [run_id], chance, events=60)
        shell = connect(proxy.http_url)
        where = {"batch": batch_id} if target == "batch" else {"run": run_id}
        stream = shell.client.events(**where)
        [snapshot] = await shell.read(stream, count=1)
        assert (snapshot.batch_id, snapshot.data.left_out, snapshot.data.events) == (batch_id, 12, 62)
        rest = await shell.items("events", **where, after=stream.last_id)
        assert [event.seq for event in rest] == list(range(13, 63))


async def test_whoever_follows_learns_that_the_batch_is_gone(connect, proxy, pool, publisher, chance):
    batch_id, run_ids = await batch_of(pool, 1)
    shell = connect(proxy.http_url)
    with pytest.raises(NotFound):
        await shell.items("events", new_id())
    with pytest.raises(Refused, match="event id") as error:
        await shell.items("events", batch_id, after="nonsense")
    assert error.value.status == 400
    following = asyncio.create_task(shell.items("events", batch_id, count=2))
    await happen(pool, run_ids[0], EventKind.TOOL_CALLED)
    assert len(await following) == 2
    await play(pool, publisher, run_ids, chance, events=1)
    await delete(pool, batch_id)
    with pytest.raises(NotFound):
        await shell.items("events", batch_id, history=True)


async def test_results_come_once_though_the_connection_is_cut(connect, proxy, pool, publisher, chance):
    batch_id, run_ids = await batch_of(pool, 30)
    await play(pool, publisher, run_ids[:2], chance, events=1)
    limits = iter([3_000, 7_000])
    proxy.bytes_before_cut = lambda: next(limits, 10**9)
    results = await connect(proxy.http_url).items("results", batch_id)
    assert [result.id for result in results] == run_ids
    assert [result.state for result in results[:3]] == ["completed", "completed", "queued"]
    assert proxy.cuts == 2


def frame(seq: int, kind: str, data: dict) -> bytes:
    event = {
        "batch_id": str(UUID(int=1)),
        "run_id": str(UUID(int=2)),
        "seq": seq,
        "at": "2026-10-01T00:00:00Z",
    }
    body = json.dumps(event | {"kind": kind, "data": data})
    return f"id: {seq}\r\nevent: {kind}\r\ndata: {body}\r\n\r\n".encode()


def scripted_stream(*bodies: bytes) -> web.Application:
    """Answers a stream with one body after the other, then that it is over."""
    rest = list(bodies)

    async def answer(request: web.Request) -> web.Response:
        if not rest:
            return web.Response(status=204)
        return web.Response(body=rest.pop(0), content_type="text/event-stream")

    app = web.Application()
    app.router.add_get("/v1/runs/{id}/events", answer)
    return app


async def test_an_event_that_only_a_newer_server_knows_is_handed_on(connect):
    newer = (
        frame(1, "run.dreamt", {"of": "sheep"})
        + b": ping\r\n\r\n"
        + frame(2, "run.completed", {"answer": "A"})
    )
    async with served(scripted_stream(newer)) as address:
        first, second = await connect(address).items("events", run=UUID(int=2))
    assert isinstance(first, UnknownEvent)
    assert (first.kind, first.data) == ("run.dreamt", {"of": "sheep"})
    assert isinstance(second, RunCompleted)
    assert second.data.answer == "A"


async def test_what_a_server_sends_again_comes_once_and_half_an_event_not_at_all(connect):
    bodies = [
        frame(1, "run.completed", {"answer": "A"}) + frame(2, "run.completed", {"answer": "B"})[:-4],
        frame(1, "run.completed", {"answer": "A"}) + frame(2, "run.completed", {"answer": "B"}),
    ]
    async with served(scripted_stream(*bodies)) as address:
        events = await connect(address).items("events", run=UUID(int=2))
    assert [event.seq for event in events] == [1, 2]


async def test_a_server_that_stays_away_is_waited_for_as_long_as_was_said(connect, proxy, pool):
    batch_id, _ = await batch_of(pool, 1)
    shell = connect(proxy.http_url, patience_s=0.3)
    stream = shell.iterate("events", batch_id, history=True)
    await anext(stream)
    proxy.upstream = 1
    proxy.reset()
    with pytest.raises(Unavailable, match="cut before the answer"):
        await anext(stream)
