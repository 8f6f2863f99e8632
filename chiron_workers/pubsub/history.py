"""History: the events between two positions, read from Postgres in pages that are the same for whoever reads them."""

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_outage
from chiron_workers.pubsub.cursors import START, Cursor, Page, Position
from chiron_workers.pubsub.feeds import Feed, StreamedEvent
from chiron_workers.pubsub.positions import seqs_at
from chiron_workers.runs.events import read_page

# Of one page. With GROUP_RUNS it decides which page an event is on, so cursors depend on both.
PAGE_EVENTS = 400
GROUP_RUNS = 200
PAGES_KEPT = 16  # for the next who ask for them
READS_MAX = 4  # at once, and no more than a quarter of the pool
PAUSE_MAX_S = 5.0
Value = TypeVar("Value")
RunSeqs = tuple[Sequence[UUID], "array[int]"]  # runs, and of each how many events it has


class Reads:
    """Reads of one process for its streams: few at once, so that others have connections, and equal ones together."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._slots = asyncio.Semaphore(max(1, min(READS_MAX, pool.max_size // 4)))
        self._tasks: OrderedDict[Hashable, asyncio.Task[Any]] = OrderedDict()

    async def read(self, read: Callable[[], Awaitable[Value]]) -> Value:
        """Read when there is a slot, and again while Postgres is away."""
        pause_s = 0.1
        while True:
            try:
                async with self._slots:
                    return await read()
            except (psycopg.Error, PoolTimeout) as error:
                if self.pool.closed or not is_outage(error):
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, PAUSE_MAX_S)

    async def share(self, key: Hashable, read: Callable[[], Awaitable[Value]]) -> Value:
        """A page, or where a stream begins, which those who ask at about the same time share."""
        task = self._tasks.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._tasks[key] = asyncio.create_task(self.read(read))
            # Its error is looked at even if nobody waits for it any more.
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._tasks.move_to_end(key)
        while len(self._tasks) > PAGES_KEPT:
            self._tasks.popitem(last=False)
        return cast(Value, await asyncio.shield(task))


@dataclass(frozen=True, slots=True)
class _Round:
    page: Page
    numbers: list[int]  # of the runs that have events in it
    rows: int  # of each of them


@dataclass(frozen=True, slots=True)
class Way:
    """The events of a batch between two positions, in groups of runs and rounds of as many events of each run.

    Both positions say for ever the same, and so does each page, whoever reads it and whenever.
    """

    feed: Feed
    reads: Reads
    position: Position
    target: Position
    run_ids: list[UUID]
    begins: "array[int]"
    ends: "array[int]"
    start: Page

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing between the two."""
        return all(end <= begin for begin, end in zip(self.begins, self.ends, strict=True))

    @property
    def is_ahead(self) -> bool:
        """Whether some run had come further at the cursor than the feed has heard, as another process may have sent it."""
        return any(begin > end for begin, end in zip(self.begins, self.ends, strict=True))

    async def pages(self) -> AsyncIterator[list[StreamedEvent]]:
        """Page by page, from the place on the way that a cursor names."""
        start = self.start
        rounds = [
            item
            for item in self._rounds()
            if (item.page.group, item.page.round) >= (start.group, start.round)
        ]
        for item in rounds:
            is_begun = (item.page.group, item.page.round) == (start.group, start.round)
            events = await self._read(item, is_last=item is rounds[-1])
            if events := events[start.offset if is_begun else 0 :]:
                yield events

    def _rounds(self) -> Iterator[_Round]:
        for group in range(-(-len(self.run_ids) // GROUP_RUNS)):
            numbers = range(group * GROUP_RUNS, min((group + 1) * GROUP_RUNS, len(self.run_ids)))
            lags = {n: self.ends[n] - self.begins[n] for n in numbers if self.ends[n] > self.begins[n]}
            rows = max(1, PAGE_EVENTS // max(1, len(lags)))
            for number in range(-(-max(lags.values(), default=0) // rows)):
                yield _Round(Page(group, number), [n for n, lag in lags.items() if lag > number * rows], rows)

    async def _read(self, round_: _Round, *, is_last: bool) -> list[StreamedEvent]:
        way = self.feed.cursor_text.on_the_way(self.position, self.target)
        page, rows = round_.page, round_.rows
        after = {self.run_ids[n]: self.begins[n] + page.round * rows for n in round_.numbers}
        ends = {self.run_ids[n]: self.ends[n] for n in round_.numbers}

        async def read() -> list[StreamedEvent]:
            page_events = await read_page(self.reads.pool, after, each=rows)
            events = [event for event in page_events if cast(int, event.seq) <= ends[event.run_id]]
            ids = [way.at(Page(page.group, page.round, offset)) for offset in range(1, len(events) + 1)]
            if is_last and ids:
                ids[-1] = self.feed.cursor_text.live(self.target)
            return [StreamedEvent(event, text) for event, text in zip(events, ids, strict=True)]

        return await self.reads.share((self.feed.target_id, way.at(page)), read)


async def way_of(feed: Feed, reads: Reads, cursor: Cursor, run_seqs: RunSeqs | None = None) -> Way:
    """What lies before a cursor, up to where the feed is, or up to the cursor's own target.

    Args:
        run_seqs: Those at the cursor's position, where they are known.

    Raises:
        UsageError: The cursor is of another database.
    """
    position, start = cursor.position, cursor.page
    if cursor.target is None:
        target, run_ids, ends = feed.position, feed.run_ids, array("i", feed.seqs)
    else:
        target = cursor.target
        ids, ends = await _share_seqs(feed, reads, target)
        run_ids = list(ids)
        if len(run_ids) != target.runs:  # Runs were deleted, so the pages are others.
            start = Page()
    begins = array("i", bytes(ends.itemsize * len(run_ids)))
    if position != START:
        if run_seqs is None:
            run_seqs = await _share_seqs(feed, reads, position)
        ids, begins = run_seqs
        if list(ids) != run_ids:
            seqs = dict(zip(ids, begins, strict=True))
            begins = array("i", [seqs.get(run_id, 0) for run_id in run_ids])
    return Way(feed, reads, position, target, run_ids, begins, ends, start)


async def _share_seqs(feed: Feed, reads: Reads, position: Position) -> RunSeqs:
    """The seqs at a position, which those who come back to it in the same second share."""
    second = int(asyncio.get_running_loop().time())
    key = (feed.target_id, "seqs", feed.cursor_text.live(position), second)
    return await reads.share(key, lambda: seqs_at(reads.pool, cast(UUID, feed.batch_id), position))


async def run_pages(feed: Feed, reads: Reads, after: int, target: int) -> AsyncIterator[list[StreamedEvent]]:
    """The events of a run after one seq up to another, page by page."""
    while after < target:

        async def read(after: int = after) -> list[StreamedEvent]:
            rows = await read_page(reads.pool, {feed.target_id: after}, each=PAGE_EVENTS)
            return [StreamedEvent(event, str(event.seq)) for event in rows if cast(int, event.seq) <= target]

        items = await reads.share((feed.target_id, after, target), read)
        if not items:
            return
        yield items
        after = cast(int, items[-1].event.seq)
