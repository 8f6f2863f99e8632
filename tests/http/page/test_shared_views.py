"""Page reads shared by all viewers: one for all of them, and what a viewer gets when it fails."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import httpx2
import pytest
from support.executed_statements import executed_statements
from support.research_rows import Shelf

from chiron_api.http.page import shared_views
from chiron_api.http.page.shared_views import SharedViews
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.streams import Changes, Streams

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


async def test_view_shows_a_new_viewer_a_read_begun_after_it_came(views: SharedViews) -> None:
    number = 0

    async def read() -> int:
        return number

    async with views.watch("numbers", read) as first:
        assert (await first.next()).state == 0
        number = 1
        async with views.watch("numbers", read) as second:
            assert second is first
            assert (await second.next()).state == 1


async def test_view_fails_for_all_viewers_with_its_read_and_a_new_viewer_gets_a_new_view(
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


class SlowStreams(Streams):
    """Streams that take as long to leave as a test wants."""

    left: asyncio.Event

    @asynccontextmanager
    async def changes(
        self, *, batch_id: UUID | None = None, run_id: UUID | None = None, with_text: bool = False
    ) -> AsyncIterator[Changes]:
        async with super().changes(batch_id=batch_id, run_id=run_id, with_text=with_text) as changes:
            try:
                yield changes
            finally:
                await self.left.wait()


async def test_view_that_fails_is_given_to_no_new_viewer_while_it_still_closes(pool: Pool, valkey: str):
    async def fail() -> int:
        raise ValueError("no such thing")

    async def read() -> int:
        return 7

    streams, batch_id = SlowStreams(pool, valkey), UUID(int=7)
    streams.left = asyncio.Event()
    views = SharedViews(streams)
    async with asyncio.timeout(PATIENCE_S), views.watch("things", fail, batch_id=batch_id) as view:
        with pytest.raises(ValueError, match="no such thing"):
            await view.next()
        async with views.watch("things", read, batch_id=batch_id) as fresh:
            assert (await fresh.next()).state == 7
            streams.left.set()


async def test_view_whose_read_a_library_cancels_fails_for_its_viewers(views: SharedViews):
    async def cancel() -> int:
        raise asyncio.CancelledError

    async with (
        asyncio.timeout(PATIENCE_S),
        views.watch("things", cancel) as view,
        views.watch("things", cancel) as other,
    ):
        results = await asyncio.gather(view.next(), other.next(), return_exceptions=True)
        results += await asyncio.gather(view.next(), return_exceptions=True)
        assert [str(result) for result in results] == ["The reads of this page were cancelled."] * 3
        assert view.is_over


async def test_view_ends_its_reads_with_its_last_viewer(views: SharedViews) -> None:
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
