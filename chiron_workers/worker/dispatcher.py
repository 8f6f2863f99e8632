import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from chiron_workers.batches.dispatch import Dispatch, dispatch_next, undo_dispatch
from chiron_workers.celery import QueuedRun, dispatch
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.settings import Settings
from chiron_workers.worker.duties import outages_logged

GATHERING_S = 0.05  # so that the ends of many runs make one round
PAUSE_FACTOR = 4  # a pause is this many times as long as its round took, so that rounds never fill a server


class Dispatcher:
    """Dispatches runs to Celery for the free slots of one worker, in the order that Postgres decides."""

    def __init__(self, pool: Pool, settings: Settings, *, free_slots: Callable[[], int]) -> None:
        self._pool = pool
        self._settings = settings
        self._free_slots = free_slots
        self._is_due = asyncio.Event()
        self._query_s = 0.0
        self._retry_s = GATHERING_S
        self._wait_s = settings.rescue_s

    def wake(self) -> None:
        """Dispatch soon: a slot became free, a message was answered, or somebody submitted or steered."""
        self._is_due.set()

    async def run(self) -> None:
        """Dispatch whenever it is due; never ends."""
        while True:
            with outages_logged("ring"):
                await self._dispatch()
            await self._pause()

    async def _dispatch(self) -> None:
        self._wait_s = self._settings.rescue_s
        if self._free_slots() <= 0:
            return
        turn = await self._next()
        if turn.runs_to_dispatch:
            await self._send(turn.runs_to_dispatch)
            self._retry_s = GATHERING_S
        if turn.outstanding:
            # Another worker may answer these messages and leave our slots free: look again, less and less often.
            self._wait_s = min(self._retry_s, self._wait_s)
            self._retry_s = 2 * self._wait_s

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._wait_s):
                await self._is_due.wait()
            self._retry_s = GATHERING_S
        self._is_due.clear()
        await asyncio.sleep(min(max(GATHERING_S, PAUSE_FACTOR * self._query_s), self._settings.rescue_s))

    async def _next(self) -> Dispatch:
        settings, began = self._settings, time.monotonic()
        redispatch_after = timedelta(seconds=settings.ring_again_s)
        try:
            return await dispatch_next(
                self._pool,
                room=self._free_slots,
                redispatch_after=redispatch_after,
                model_limits=settings.model_concurrency,
            )
        finally:
            self._query_s = time.monotonic() - began

    async def _send(self, runs: Sequence[QueuedRun]) -> None:
        try:
            await asyncio.to_thread(dispatch, runs)
        except ServiceUnavailable:
            await undo_dispatch(self._pool, runs)
            raise
