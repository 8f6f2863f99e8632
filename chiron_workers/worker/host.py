import asyncio
import contextlib
import dataclasses
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.connect import is_outage, open_pool
from chiron_workers.embeddings import Space, open_embedder
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.mcp_client.servers import Servers
from chiron_workers.pubsub.cooldowns import Cooling
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.pubsub.signals import signals
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Interrupt, Run, acquire
from chiron_workers.runs.rescue import rescue
from chiron_workers.search_providers import select_providers
from chiron_workers.settings import Settings
from chiron_workers.skills import skills
from chiron_workers.states import Outcome
from chiron_workers.subscriptions.occurrences import compare_occurrences
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.telemetry import tracing
from chiron_workers.tools import registry
from chiron_workers.worker.dispatcher import Ringer
from chiron_workers.worker.execution import Taking
from chiron_workers.worker.lease_renewal import Renewal
from chiron_workers.worker.model_clients import Endpoints

if sys.platform == "win32":
    from asyncio import new_event_loop
else:
    from uvloop import new_event_loop

log = structlog.get_logger()
Value = TypeVar("Value")

BEAT_S = 0.5
INDEXES_S = 300.0
LEAVE_S = 10.0  # for handing runs back after their calls were cut


class Host:
    """The runs of one worker process: an event loop in a thread of its own plays them all side by side.

    Args:
        slots: Runs that the process can play at once, as many as its pool has threads.
    """

    def __init__(self, settings: Settings, *, slots: int) -> None:
        self._settings = settings
        self._slots = slots
        self._lease_for = timedelta(seconds=settings.lease_s)
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chiron-loop", daemon=True)
        self._resources = AsyncExitStack()
        self._takings: dict[UUID, Taking] = {}
        self._chores: list[asyncio.Task[None]] = []
        self._left: dict[UUID, datetime] = {}  # what is due and this worker cannot start
        self._draining = False
        self._beat_at = time.monotonic()
        self._renewal = Renewal(
            settings, held=self._held, is_alive=self._is_alive, on_interrupts=self._on_interrupts
        )

    def start(self) -> None:
        """Open everything a run needs. Raises ChironError where the settings or Postgres do not allow it."""
        tracing.start()
        self._thread.start()
        self._submit(self._open()).result()
        self._renewal.start()

    def play(self, run_id: UUID) -> Outcome:
        """Claim a run and play it to its end, or until this worker must let go of it."""
        return self._submit(self._play(run_id)).result()

    def drain(self) -> None:
        """Let go of all runs: calls in flight get `drain_s` to finish, then they are cut. Returns at once."""
        self._loop.call_soon_threadsafe(self._begin_to_drain)

    def stop(self) -> None:
        """Close everything, once the runs have been let go of."""
        with contextlib.suppress(TimeoutError):
            self._submit(self._close()).result(timeout=LEAVE_S)
        self._renewal.stop()
        tracing.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=LEAVE_S)

    def _submit(self, work: Coroutine[Any, Any, Value]) -> "Future[Value]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> None:
        settings, enter = self._settings, self._resources.enter_async_context
        self._pool = await enter(open_pool(settings.database_url, size=settings.pool_size))
        self._publisher = Publisher(settings.redis_url)
        self._resources.push_async_callback(self._publisher.close)
        embedder = open_embedder(settings)
        self._resources.push_async_callback(embedder.close)
        self._endpoints = await enter(Endpoints(settings))
        self._journal = Journal(self._pool, self._publisher.publish, lease_for=self._lease_for)
        for broken in registry().broken:
            log.error("tools.broken", source=broken.source, reason=broken.reason)
        for name, reason in select_providers(settings)[1].items():
            log.error("search.off", provider=name, reason=reason)
        for rejection in skills().catalogue().rejections:
            log.error("skills.left_out", folder=str(rejection.folder), reason=rejection.reason)
        self._servers = Servers(registry(), settings)
        self._servers.start()
        self._resources.push_async_callback(self._servers.stop)
        self._tools = Toolbox(registry(), self._journal, embedder, settings, self._endpoints.of, skills())
        self._resources.push_async_callback(skills().close)
        self._ringer = Ringer(self._pool, settings, room=self._room)
        chores = (
            self._beat(),
            self._rescue_again_and_again(),
            self._start_due_again_and_again(),
            self._ring_again_and_again(),
            self._keep_indexes_again_and_again(embedder.space),
        )
        self._chores = [asyncio.create_task(chore) for chore in chores]
        for chore in self._chores:
            chore.add_done_callback(self._end_with)
        listening = asyncio.create_task(self._listen_for_hints())
        listening.add_done_callback(_tell_of_the_end)
        self._chores.append(listening)

    async def _close(self) -> None:
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self._resources.aclose()

    async def _play(self, run_id: UUID) -> Outcome:
        await self._servers.wait_for_first_attempts()  # a run keeps the tools that are there when it begins
        if self._draining:
            return Outcome.NOT_OURS
        try:
            claimed = await acquire(self._pool, run_id, worker=self.name, lease_for=self._lease_for)
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error):
                raise
            log.warning("claim.failed", run_id=str(run_id), error=str(error).strip())
            return Outcome.NOT_OURS
        if claimed is None:
            return Outcome.NOT_OURS
        run, event = claimed
        self._publisher.publish(event)
        return await self._carry(run)

    async def _carry(self, run: Run) -> Outcome:
        taking = Taking(run, self._journal, self._endpoints.of(run), self._tools, self._settings)
        taking.must_stop = self._draining
        self._takings[run.id] = taking
        self._ringer.look_soon()  # a doorbell less is out
        try:
            return await taking.carry()
        finally:
            if (
                self._takings.get(run.id) is taking
            ):  # else it was taken anew while this taking let go of its skills
                del self._takings[run.id]
            self._ringer.look_soon()

    def _begin_to_drain(self) -> None:
        self._draining = True
        log.info("worker.draining", runs=len(self._takings))
        for taking in self._takings.values():
            taking.stop("the worker stops")
        self._chores.append(asyncio.create_task(self._cut_after_grace()))

    async def _cut_after_grace(self) -> None:
        await asyncio.sleep(self._settings.drain_s)
        for taking in list(self._takings.values()):
            taking.cut("the worker stops")

    def _held(self) -> Sequence[tuple[UUID, int]]:
        return [(taking.run.id, taking.run.lease) for taking in tuple(self._takings.values())]

    def _is_alive(self) -> bool:
        return time.monotonic() - self._beat_at < self._settings.lease_s / 2

    def _on_interrupts(self, interrupts: Sequence[Interrupt]) -> None:
        self._loop.call_soon_threadsafe(self._leave, list(interrupts))

    def _leave(self, interrupts: Sequence[Interrupt]) -> None:
        for interrupt in interrupts:
            taking = self._takings.get(interrupt.id)
            if taking is None or taking.run.lease != interrupt.lease:
                continue
            if interrupt.is_lost:
                taking.abandon()
            elif interrupt.stop_requested is not None:
                taking.request_stop(interrupt.stop_requested)

    async def _beat(self) -> None:
        while True:
            self._beat_at = time.monotonic()
            await asyncio.sleep(BEAT_S)

    async def _listen_for_hints(self) -> None:
        if not self._settings.redis_url:
            return
        async for target in signals(self._settings.redis_url):
            if isinstance(target, Cooling):
                self._endpoints.traffic.heed(target)
                continue
            self._ringer.look_soon()
            if any(target in (taking.run.id, taking.run.batch_id) for taking in self._takings.values()):
                self._renewal.look_now()

    async def _rescue_again_and_again(self) -> None:
        while True:
            with self._through_outage("rescue"):
                await self._rescue()
            await asyncio.sleep(self._settings.rescue_s)

    async def _start_due_again_and_again(self) -> None:
        while True:
            with self._through_outage("due_times"):
                await self._start_due()
                await self._compare_times()
            await asyncio.sleep(self._settings.rescue_s)

    async def _ring_again_and_again(self) -> None:
        while True:
            with self._through_outage("ring"):
                await self._ringer.look()
            await self._ringer.pause()

    async def _keep_indexes_again_and_again(self, space: Space) -> None:
        while True:
            await asyncio.sleep(INDEXES_S * random.uniform(0.5, 1))  # noqa: S311  # so that workers take turns
            try:
                for built in await maintain_indexes(self._settings.database_url, space):
                    log.info("vectors.indexed", **dataclasses.asdict(built))
            except (psycopg.Error, ServiceUnavailable) as error:
                # A full disk or a server of too little memory: searches stay exact and slower, runs go on.
                log.warning("vectors.not_indexed", error=str(error).strip())

    @contextlib.contextmanager
    def _through_outage(self, chore: str) -> Iterator[None]:
        try:
            yield
        except ServiceUnavailable as error:
            log.warning(f"{chore}.failed", error=str(error))
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error):
                raise
            log.warning(f"{chore}.failed", error=str(error).strip())

    def _end_with(self, chore: asyncio.Task[None]) -> None:
        # A worker that no longer rescues or rings only looks alive: it ends, and its supervisor starts another.
        if not chore.cancelled() and (error := chore.exception()) is not None:
            log.critical("worker.broken", exc_info=error)
            self._begin_to_drain()
            os.kill(os.getpid(), signal.SIGTERM)

    async def _rescue(self) -> None:
        max_attempts = self._settings.max_attempts
        if rescued := await rescue(self._journal, lease_for=self._lease_for, max_attempts=max_attempts):
            log.warning("runs.rescued", runs=rescued)
            self._ringer.look_soon()

    async def _compare_times(self) -> None:
        for batch_id in await compare_occurrences(self._pool):
            log.info("subscription.silent", batch_id=str(batch_id))

    async def _start_due(self) -> None:
        while not self._draining and (found := await start_due(self._pool, self._left)):
            for due in found:
                log.info(
                    f"subscription.{due.outcome}",
                    subscription_id=str(due.subscription_id),
                    due_at=due.due_at.isoformat(),
                    reason=due.reason,
                )
            self._ringer.look_soon()

    def _room(self) -> int:
        return 0 if self._draining else self._slots - len(self._takings)


def _tell_of_the_end(listening: asyncio.Task[None]) -> None:
    # Without hints a worker learns at each renewal what is wanted of its runs: later, which is no reason to end.
    if not listening.cancelled() and (error := listening.exception()) is not None:
        log.error("hints.ended", exc_info=error)
