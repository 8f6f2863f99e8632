"""Surveys of Postgres for all feeds of a process: one statement for all of them, and one for the events they lack."""

import asyncio
import random
from contextlib import suppress
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_outage
from chiron_workers.errors import NotFound
from chiron_workers.pubsub.feeds import Feed
from chiron_workers.pubsub.positions import cursor_text, survey
from chiron_workers.runs.events import read_page

if TYPE_CHECKING:
    from chiron_workers.pubsub.hub import Hub

READ_AGAIN_S = 4.0  # between two surveys while Redis is connected
POLL_S = 1.0  # and while it is not, if something happens; else longer each time
PAUSE_MAX_S = 5.0
GATHERING_S = 0.02  # so that what many feeds ask for is one survey
RUNS_AT_ONCE = 200  # whose events are read together


class Surveyor:
    """Keeps feeds up to date: when one asks for it, and all of them every few seconds."""

    def __init__(self, pool: Pool, redis_url: str) -> None:
        self._pool = pool
        self._redis_url = redis_url
        self._feeds: dict[UUID, Feed] = {}
        self._requests: set[Feed] = set()
        self._change = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.is_postgres_away = False  # as of the last survey

    @cached_property
    def _hub(self) -> "Hub":
        # Most who might watch never do, and the library takes a quarter of a second.
        from chiron_workers.pubsub.hub import Hub

        return Hub(self._redis_url)

    def feed(self, *, batch_id: UUID | None, run_id: UUID | None, with_text: bool = False) -> Feed:
        """The feed of a batch or a run, which all share who watch it; `leave` it at the end, with the same `with_text`."""
        target_id = batch_id or run_id
        assert target_id is not None
        feed = self._feeds.get(target_id)
        if feed is None or feed.error:
            feed = self._feeds[target_id] = Feed(batch_id=batch_id, run_id=run_id, request=self._request)
            self._hub.subscribe(feed.channel, feed)
            self._request(feed)
        feed.users += 1
        feed.text_users += with_text
        self._hub.want_text(feed.channel, is_wanted=feed.text_users > 0)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
            self._task.add_done_callback(self._fail)
        return feed

    def leave(self, feed: Feed, *, with_text: bool = False) -> None:
        """Forget a feed with the last of its users."""
        feed.users -= 1
        feed.text_users -= with_text
        if feed.users:
            if self._feeds.get(feed.target_id) is feed:
                self._hub.want_text(feed.channel, is_wanted=feed.text_users > 0)
            return
        self._requests.discard(feed)
        if self._feeds.get(feed.target_id) is feed:
            del self._feeds[feed.target_id]
            self._hub.unsubscribe(feed.channel)
        if not self._feeds and self._task is not None:
            self._task.cancel()
            self._task = None

    async def refresh(self, feed: Feed) -> None:
        """Return after the next survey of a feed. Raises its error."""
        survey_end = feed.survey_end
        self._request(feed)
        await survey_end.wait()
        if feed.error:
            raise feed.error

    def is_live(self, feed: Feed) -> bool:
        """Whether Redis tells of events of this feed; else they are seen with the next survey."""
        return self._hub.is_live(feed.channel)

    def _request(self, feed: Feed) -> None:
        self._requests.add(feed)
        self._change.set()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        idle_s, survey_at = POLL_S, clock()
        while True:
            is_live = all(self._hub.is_live(feed.channel) for feed in self._feeds.values())
            due_at = survey_at + (READ_AGAIN_S if is_live else idle_s) * random.uniform(0.8, 1)  # noqa: S311  # jitter
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due_at):
                    await self._change.wait()
                    await asyncio.sleep(GATHERING_S)
            is_due = clock() >= due_at
            feeds = [feed for feed in (self._feeds.values() if is_due else self._requests) if feed.users]
            self._change.clear()
            self._requests.clear()
            try:
                is_news = await self._survey(feeds)
                self.is_postgres_away = False
            except (psycopg.Error, PoolTimeout) as error:
                if self._pool.closed or not is_outage(error):
                    raise
                is_news, is_due, self.is_postgres_away = False, True, True
                await asyncio.sleep(random.uniform(0.5, 1) * idle_s)  # noqa: S311  # jitter
                self._requests.update(feeds)
                self._change.set()
            if is_due:
                idle_s, survey_at = POLL_S if is_news else min(idle_s * 1.5, PAUSE_MAX_S), clock()

    async def _survey(self, feeds: list[Feed]) -> bool:
        """Bring feeds up to date; whether there was anything that they did not have."""
        fresh = [feed for feed in feeds if feed.is_stale]
        for feed in fresh:
            if feed.batch_id:
                feed.cursor_text = await cursor_text(self._pool, feed.batch_id)
        await self._look(fresh)
        await self._look([feed for feed in feeds if not feed.is_stale and feed not in fresh])
        is_news = bool(fresh) or any(feed.lags for feed in feeds)
        await self._fill(feeds)
        for feed in feeds:
            feed.settle()
        return is_news

    async def _look(self, feeds: list[Feed]) -> None:
        if not feeds:
            return
        snapshots = [feed.snapshot for feed in feeds if feed.snapshot and not feed.is_stale]
        answer = await survey(
            self._pool,
            batch_ids=[feed.target_id for feed in feeds if feed.batch_id],
            run_ids=[feed.target_id for feed in feeds if feed.run_id],
            since=min(snapshots, key=lambda snapshot: snapshot.xmin, default=None),
        )
        for feed in feeds:
            heads = answer.heads.get(feed.target_id)
            if heads is None:
                feed.fail(NotFound(f"There is no {'run' if feed.run_id else 'batch'} {feed.target_id}."))
            elif feed.is_stale:
                feed.begin(answer.snapshot, heads)
            else:
                feed.apply(answer.snapshot, heads)

    async def _fill(self, feeds: list[Feed]) -> None:
        by_target = {feed.target_id: feed for feed in feeds}
        while lags := [item for feed in feeds for item in feed.lags.items()]:
            # Of a run in two feeds, the lower seq is the last to be put into the dict.
            after = dict(sorted(lags, key=itemgetter(1), reverse=True)[-RUNS_AT_ONCE:])
            events = await read_page(self._pool, after)
            for event in events:
                for target_id in (event.run_id, event.batch_id):
                    if feed := by_target.get(target_id):
                        feed.fill(event)
            for run_id in after.keys() - {event.run_id for event in events}:
                for feed in feeds:
                    feed.give_up(run_id)

    def _fail(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._task = None
            for feed in self._feeds.values():
                feed.fail(error if isinstance(error, Exception) else RuntimeError(repr(error)))
