"""Live pages of many people: what they look at is read once for all of them."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

import httpx2
import pytest
from support.executed_statements import executed_statements
from support.research_rows import Shelf

from chiron_api.http.page import shared_views
from chiron_api.http.page.shared_views import SharedViews
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.streams import Streams

STREAMS = 20
READ_S = 0.5
PATIENCE_S = 60.0


@pytest.fixture
async def views(pool: Pool, valkey: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SharedViews]:
    monkeypatch.setattr(shared_views, "READ_S", 0.01)
    monkeypatch.setattr(shared_views, "IDLE_READ_S", 0.05)
    async with asyncio.timeout(PATIENCE_S):
        yield SharedViews(Streams(pool, valkey))


async def first_part(client: httpx2.AsyncClient, path: str, target: str, done: asyncio.Barrier) -> str:
    """The HTML of an element, of a stream that stays open until all others have theirs, too."""
    async with client.stream("GET", path) as stream:
        async for line in stream.aiter_lines():
            part = json.loads(line.removeprefix("data: ")) if line.startswith("data: {") else {}
            if part.get("target") == target:
                await done.wait()
                return str(part["html"])
    raise AssertionError(f"the stream of {path} ended without {target}")


@pytest.mark.parametrize(
    ("path", "target", "words"),
    [
        ("/batches/{batch}/live", "head", "from runs  where batch_id = %(batch_id)s  order by id"),
        ("/runs/{run}/live", "story", "from events  where run_id = %(run_id)s    and seq < %(before)s"),
        ("/live", "band-running", "where finished_at > %(since)s"),
        ("/system/live", "services", "server_version"),
    ],
)
async def test_streams_of_one_page_read_what_it_shows_once_for_all_of_them(
    client: httpx2.AsyncClient,
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    target: str,
    words: str,
):
    monkeypatch.setattr(shared_views, "READ_S", READ_S)
    subject = shelf.subject("tides", "Tides")
    batch = shelf.batch(subject, "Tides of the sea")
    run = shelf.run(subject, batch, "Why twice a day?", state="running", finished_at=None)
    shelf.connection.execute("update batches set open_runs = 1")
    shelf.connection.execute(
        "insert into events (run_id, seq, batch_id, kind, data) values (%s, 1, %s, 'run.started', '{}')",
        [run, batch],
    )
    shelf.connection.execute("update runs set seq = 1")
    done = asyncio.Barrier(STREAMS)
    statements = executed_statements(monkeypatch)
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE_S):
        parts = await asyncio.gather(
            *(first_part(client, path.format(batch=batch, run=run), target, done) for _ in range(STREAMS))
        )
    assert len(set(parts)) == 1
    reads = statements.count_of(words)
    assert reads, "\n".join(statements)
    assert reads <= 2 + (time.monotonic() - began) / READ_S


async def test_whoever_comes_is_shown_what_was_read_after_that(views: SharedViews) -> None:
    number = 0

    async def read() -> int:
        return number

    async with views.watch("numbers", read) as first:
        assert (await first.next()).state == 0
        number = 1
        async with views.watch("numbers", read) as second:
            assert second is first
            assert (await second.next()).state == 1


async def test_a_read_that_fails_ends_the_view_for_all_who_look_and_the_next_begins_anew(
    views: SharedViews,
) -> None:
    async def fail() -> int:
        raise ValueError("no such thing")

    async def read() -> int:
        return 7

    async with views.watch("things", fail) as view, views.watch("things", fail) as other:
        results = await asyncio.gather(view.next(), other.next(), return_exceptions=True)
        results += await asyncio.gather(view.next(), return_exceptions=True)
        assert [str(result) for result in results] == ["no such thing"] * 3
        async with views.watch("things", read) as fresh:
            assert (await fresh.next()).state == 7


async def test_what_nobody_looks_at_is_read_no_more(views: SharedViews) -> None:
    reads = 0

    async def read() -> int:
        nonlocal reads
        reads += 1
        return reads

    async with views.watch("numbers", read) as view, views.watch("numbers", read):
        await view.next()
    with contextlib.suppress(asyncio.CancelledError):
        await view._task
    assert view.is_over
    async with views.watch("numbers", read) as fresh:
        assert fresh is not view
