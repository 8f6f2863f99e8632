import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from chiron_workers.batches.dispatch import Dispatch, QueuedRun, dispatch_next, undo_dispatch
from chiron_workers.celery import Doorbell, ring
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.settings import Settings

GATHERING_S = 0.05  # so that the ends of many runs make one look
SHARE = 4  # a look is followed by a pause this many times as long, so that looking never fills a server


class Ringer:
    """Rings for the free slots of one worker, in the order that Postgres decides.

    Args:
        room: How many runs the worker could begin to play now.
    """

    def __init__(self, pool: Pool, settings: Settings, *, room: Callable[[], int]) -> None:
        self._pool = pool
        self._settings = settings
        self._room = room
        self._must_look = asyncio.Event()
        self._took_s = 0.0
        self._again_s = GATHERING_S
        self._wait_s = settings.rescue_s

    def look_soon(self) -> None:
        """Something changed: a slot became free, a doorbell was answered, or somebody submitted or steered."""
        self._must_look.set()

    async def look(self) -> None:
        """Ring for the runs whose turn it is, as many as there is room for.

        Raises:
            ServiceUnavailable: The broker cannot be reached; the runs wait as before.
        """
        self._wait_s = self._settings.rescue_s
        room = self._room()
        if room <= 0:
            return
        look = await self._look(room)
        if look.runs_to_dispatch:
            await self._ring(look.runs_to_dispatch)
            self._again_s = GATHERING_S
        if look.outstanding:
            # Another worker may answer these doorbells and leave our room empty: look again, less and less often.
            self._wait_s = min(self._again_s, self._wait_s)
            self._again_s = 2 * self._wait_s

    async def pause(self) -> None:
        """Wait until the next look is due."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._must_look.wait(), self._wait_s)
            self._again_s = GATHERING_S
        self._must_look.clear()
        await asyncio.sleep(min(max(GATHERING_S, SHARE * self._took_s), self._settings.rescue_s))

    async def _look(self, room: int) -> Dispatch:
        settings, began = self._settings, time.monotonic()
        again_after = timedelta(seconds=settings.ring_again_s)
        try:
            return await dispatch_next(
                self._pool, room=room, redispatch_after=again_after, model_limits=settings.model_concurrency
            )
        finally:
            self._took_s = time.monotonic() - began

    async def _ring(self, waiting: Sequence[QueuedRun]) -> None:
        bells = [Doorbell(run.id, run.role, run.subject, run.topic) for run in waiting]
        try:
            await asyncio.to_thread(ring, bells)
        except ServiceUnavailable:
            await undo_dispatch(self._pool, waiting)
            raise
