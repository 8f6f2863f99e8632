"""Streams of events of batches and runs, as many as there are, over one connection to Redis and few to Postgres."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Self
from uuid import UUID

from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.pubsub.beginnings import Beginning, beginning
from chiron_workers.pubsub.cursors import Cursor
from chiron_workers.pubsub.feeds import ChangeWatcher, Feed, StreamedEvent, Watcher
from chiron_workers.pubsub.history import Reads, RunSeqs, Way, run_pages, way_of
from chiron_workers.pubsub.surveyor import Surveyor
from chiron_workers.runs.events import Event

SEQ = re.compile("[0-9]{1,9}")
# One may have been under way when it was asked for; an id that is further than the next one was never sent.
SURVEYS_MAX = 3


class Streams:
    """All streams of one process. Those of the same batch or run share a feed, and all feeds share each survey."""

    def __init__(self, pool: Pool, redis_url: str) -> None:
        self._reads = Reads(pool)
        self._surveyor = Surveyor(pool, redis_url)

    async def open(
        self,
        *,
        batch_id: UUID | None = None,
        run_id: UUID | None = None,
        after: str | None = None,
        recent: int | None = None,
        with_text: bool = False,
        with_runs: bool = False,
    ) -> "Stream":
        """A stream of a run or a batch; use it with `async with`.

        Args:
            after: The id of the last event that is not to come again; of a run its seq.
            recent: Begin with so many of the last events instead of the first one; `beginning` has what came before them.
                Without a meaning where `after` says where to begin.
            with_text: Also text deltas, which have no id and are lost while nobody listens.
            with_runs: Have `beginning` tell of each run.

        Raises:
            NotFound: There is no such run or batch.
            UsageError: `after` is no id of an event of this batch.
        """
        if (batch_id is None) == (run_id is None):
            raise TypeError("a stream follows one batch or one run")
        feed = self._surveyor.feed(batch_id=batch_id, run_id=run_id, with_text=with_text)
        stream = Stream(self._surveyor, self._reads, feed, Watcher(with_text))
        try:
            if after is None and recent is not None:
                await stream.begin_recently(recent, with_runs=with_runs)
            else:
                await stream.begin(after)
        except BaseException:
            stream.close()
            raise
        return stream

    @asynccontextmanager
    async def changes(
        self, *, batch_id: UUID | None = None, run_id: UUID | None = None, with_text: bool = False
    ) -> AsyncIterator["Changes"]:
        """Changes of a batch or a run: `wait` returns once something has happened since it was called the last time.

        It costs no read of history, so whoever reads Postgres anyway need not read the events. It returns at once where
        the batch or the run is over, or not there. `with_text` has it count the text of the reply that a run's model writes.
        """
        feed = self._surveyor.feed(batch_id=batch_id, run_id=run_id, with_text=with_text)
        watcher = ChangeWatcher(with_text)
        feed.attach(watcher)

        try:
            yield Changes(self._surveyor, feed, watcher)
        finally:
            feed.detach(watcher)
            self._surveyor.leave(feed, with_text=with_text)


class Changes:
    """What `Streams.changes` gives."""

    def __init__(self, surveyor: Surveyor, feed: Feed, watcher: ChangeWatcher) -> None:
        self._surveyor, self._feed, self._watcher = surveyor, feed, watcher

    async def wait(self) -> None:
        """Return once something has happened since the last call."""
        await self._watcher.change.wait()
        self._feed.attach(self._watcher)

    @property
    def reply_chars(self) -> int:
        """Characters of the reply under way that arrived since listening began."""
        return self._watcher.reply_chars

    @property
    def is_live(self) -> bool:
        """Whether Redis tells of changes at once; else they are seen a few seconds later."""
        return self._surveyor.is_live(self._feed)


class Stream:
    """The events of one batch or one run from a cursor on, in order of seq for each run, none missing and none twice."""

    def __init__(self, surveyor: Surveyor, reads: Reads, feed: Feed, watcher: Watcher) -> None:
        self._surveyor, self._reads, self._feed, self._watcher = surveyor, reads, feed, watcher
        self.beginning: Beginning | None = None  # of a stream that does not begin with the first event
        self._id: str | None = None  # of the last event
        self._way: Way | None = None
        self._is_joined = True  # once the way is done; else another way follows
        self._is_complete = False  # nothing follows what is handed out and the way
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching; a second time does nothing."""
        self._feed.detach(self._watcher)
        if not self._is_closed:
            self._is_closed = True
            self._surveyor.leave(self._feed, with_text=self._watcher.with_text)

    async def begin(self, after: str | None) -> None:
        """Find the place to go on from. Raises as `Streams.open`."""
        await self._feed.began.wait()
        if self._feed.error:
            raise self._feed.error
        if after is not None and self._feed.run_id and not SEQ.fullmatch(after):
            raise UsageError("The id of a run's event is its seq, a whole number.")
        self._id = after
        await self._attach()

    async def begin_recently(self, recent: int, *, with_runs: bool) -> None:
        """Begin with the last events. Raises as `Streams.open`."""
        feed, reads = self._feed, self._reads
        await feed.began.wait()
        if feed.error:
            raise feed.error
        # Wherever it was read, all that follows it comes; so those who come at once share it.
        second = int(asyncio.get_running_loop().time())
        self.beginning = await reads.share(
            (feed.target_id, "beginning", recent, with_runs, second),
            lambda: beginning(reads.pool, feed, recent=recent, with_runs=with_runs),
        )
        self._id = self.beginning.end_id
        await self._attach((self.beginning.run_ids, self.beginning.seqs))

    @property
    def is_at_end(self) -> bool:
        """Whether nothing can follow, as it is over and all of it was read before."""
        if not self._is_complete:
            return False
        return self._is_joined and self._way.is_empty if self._way else self._seq >= self._feed.seqs[0]

    @property
    def is_postgres_away(self) -> bool:
        """Whether Postgres did not answer when it was looked at last; what happens meanwhile comes once it does."""
        return self._surveyor.is_postgres_away

    async def pages(self) -> AsyncGenerator[list[StreamedEvent]]:
        """The events until the final one, as many at once as there are. Wrap it in `contextlib.aclosing`.

        Raises:
            NotFound: The run or batch was deleted.
        """
        if self.beginning and self.beginning.recent:
            yield list(self.beginning.recent)
        while True:
            async for items in self._history():
                self._id = items[-1].id
                yield items
            if self._way:
                self._id = self._feed.cursor_text.live(self._way.target)
                self._way = None
            if self._is_joined:
                async for items in self._live():
                    yield items
                if not self._watcher.has_gap:
                    return
            await self._attach()

    async def events(self) -> AsyncGenerator[Event]:
        """The events of `pages`, one by one."""
        async with aclosing(self.pages()) as pages:
            async for items in pages:
                for item in items:
                    yield item.event

    @property
    def _seq(self) -> int:
        return int(self._id or 0)

    async def _attach(self, run_seqs: RunSeqs | None = None) -> None:
        """Have everything queued from now on, and find what lies before."""
        for surveys_left in reversed(range(SURVEYS_MAX + 1)):
            self._feed.attach(self._watcher)
            # Before the way is read: meanwhile the feed may end, and the way does not have its last events.
            self._is_complete = self._feed.is_complete
            if not self._feed.batch_id:
                return
            cursor = Cursor() if self._id is None else self._feed.cursor_text.parse(self._id)
            self._is_joined = cursor.target is None
            self._way = await way_of(self._feed, self._reads, cursor, run_seqs)
            if not self._is_joined or not self._way.is_ahead or not surveys_left:
                return
            # The feed would hand out once more what lies before the cursor.
            await self._surveyor.refresh(self._feed)

    def _history(self) -> AsyncIterator[list[StreamedEvent]]:
        if self._way:
            return self._way.pages()
        return run_pages(self._feed, self._reads, self._seq, self._feed.seqs[0])

    async def _live(self) -> AsyncGenerator[list[StreamedEvent]]:
        watcher, is_run = self._watcher, self._feed.run_id is not None
        while not watcher.has_gap:
            await watcher.change.wait()
            watcher.change.clear()
            if watcher.error:
                raise watcher.error
            items = list(watcher.queue)
            watcher.queue.clear()
            if is_run:  # what was read from Postgres may have been published as well
                items = [item for item in items if item.event.seq is None or item.event.seq > self._seq]
            self._id = next((item.id for item in reversed(items) if item.id is not None), self._id)
            if items:
                yield items
            if watcher.is_over and not watcher.queue and not watcher.has_gap:
                return
