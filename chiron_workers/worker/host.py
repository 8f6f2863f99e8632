import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import structlog

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder, Space, open_embedder
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.instruments import set_slots
from chiron_workers.mcp_client.servers import Servers
from chiron_workers.pubsub.listeners import Listeners
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Interrupt
from chiron_workers.search_providers import select_providers
from chiron_workers.settings import Settings
from chiron_workers.skills import skills
from chiron_workers.states import Outcome
from chiron_workers.telemetry import metrics, tracing
from chiron_workers.telemetry.stalls import StallWatch
from chiron_workers.telemetry.worker_metrics import WorkerMetrics
from chiron_workers.tools import own_tools, registry
from chiron_workers.worker.dispatcher import Dispatcher
from chiron_workers.worker.duties import (
    Duties,
    advance_journeys,
    build_vector_indexes,
    complete_ended_batches,
    index_earlier_words,
    listen_for_signals,
    log_deafness,
    log_redis_refusals,
    log_silence,
    outages_logged,
    perform_rechecks,
    record_facts_of_earlier_runs,
    rescue_lost_runs,
    save_metrics,
    send_deliveries,
    start_due_subscriptions,
)
from chiron_workers.worker.executions import Executions
from chiron_workers.worker.lease_renewal import Heartbeat, LeaseRenewal
from chiron_workers.worker.model_clients import ModelClients
from chiron_workers.worker.names import host_name
from chiron_workers.worker.postgres_contact import PostgresContact

if sys.platform == "win32":
    from asyncio import new_event_loop
else:
    from uvloop import new_event_loop

log = structlog.get_logger()
Value = TypeVar("Value")

START_S = 120.0  # on a slow disk models and tools load for long
LAST_SAVE_S = 2.0  # for the last metrics, where Postgres is away
CLOSE_S = 10.0  # for releasing runs after their calls were cancelled
# How long a transaction may be idle: shorter than elsewhere, since a run repeats a call that was ended so.
IDLE_S = 2


class Host:
    """The runs of one worker process: an event loop in a thread of its own executes them all side by side.

    Args:
        slots: Runs that the process can execute at once, as many as its pool has threads.
    """

    def __init__(self, settings: Settings, *, slots: int) -> None:
        self._settings = settings
        self._slots = slots
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chiron-loop", daemon=True)
        self._resources = AsyncExitStack()
        self._duties = Duties()
        self._stalls = StallWatch(self._loop)
        self._heartbeat = Heartbeat(overdue_s=settings.lease_s / 2)
        self._contact = PostgresContact(lease_for=timedelta(seconds=settings.lease_s))
        self._is_broken = False

    def start(self) -> None:
        """Open everything a run needs. Raises ChironError where the settings or Postgres do not allow it."""
        tracing.start()
        metrics.start()
        self._thread.start()
        try:
            self._submit(self._open()).result(timeout=START_S)
        except TimeoutError:
            raise ServiceUnavailable(
                f"The worker was not ready within {START_S:g} s: Postgres, a tool's module or a skill held it up."
            ) from None
        # Modules that are imported until now block the loop too, and hold up no run.
        self._stalls.start()
        self._renewal.start()

    def play(self, run_id: UUID) -> Outcome:
        """Lease a run and play it to its end, or until this worker releases it.

        It waits as long as that takes: each call of a model or a tool within has a limit of its own.
        """
        return self._submit(self._play(run_id)).result()

    def drain(self) -> None:
        """Release all runs: calls in flight get `drain_s` to finish, then they are cancelled. Returns at once."""
        self._loop.call_soon_threadsafe(self._drain)

    def stop(self) -> bool:
        """Close everything, once the runs have been released; whether nothing broke and nothing paid for was lost."""
        with contextlib.suppress(TimeoutError):
            self._submit(self._close()).result(timeout=CLOSE_S)
        self._renewal.stop()
        self._stalls.stop()
        tracing.stop()
        metrics.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=CLOSE_S)
        if self._journal.lost_replies:
            log.critical("worker.lost_replies", replies=self._journal.lost_replies)
        return not self._is_broken and not self._journal.lost_replies

    def _submit(self, work: Coroutine[Any, Any, Value]) -> "Future[Value]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> None:
        settings, enter = self._settings, self._resources.enter_async_context
        tools_size = settings.pool_size // 2
        core_size = settings.pool_size - tools_size
        pool = await enter(open_pool(settings.database_url, size=core_size, idle_s=IDLE_S, is_patient=True))
        tools_pool = await enter(
            open_pool(settings.database_url, size=tools_size, idle_s=IDLE_S, is_patient=True)
        )
        listeners = Listeners(settings.redis_url)
        self._resources.push_async_callback(listeners.close)
        publisher = Publisher(settings.redis_url, on_receivers=listeners.record)
        self._resources.push_async_callback(publisher.close)
        embedder = open_embedder(settings)
        self._resources.push_async_callback(embedder.close)
        self._clients = ModelClients(settings)
        self._resources.push_async_callback(self._clients.close)
        journal = Journal(
            pool,
            publisher.publish,
            lease_for=timedelta(seconds=settings.lease_s),
            audience_of=listeners.audience_of,
        )
        self._journal = journal
        log_unusable(settings)
        self._servers = Servers(registry(), settings)
        self._servers.start()
        self._resources.push_async_callback(self._servers.stop)
        clients_of = self._clients.of
        tools = Toolbox(
            registry(), journal, tools_pool, embedder, settings, clients_of, skills(), own_tools=own_tools()
        )
        self._resources.push_async_callback(skills().close)
        worker = f"{host_name()}:{os.getpid()}"
        self._metrics = WorkerMetrics(pool, worker, look=self._set_gauges)
        self._executions = Executions(
            settings,
            journal,
            self._clients,
            tools,
            worker=worker,
            slots=self._slots,
            on_change=self._wake_dispatcher,
            compare_leases=self._compare_leases,
        )
        self._dispatcher = Dispatcher(pool, settings, free_slots=lambda: self._executions.free_slots)
        self._renewal = LeaseRenewal(
            settings,
            self._contact,
            leases=self._executions.leases,
            is_alive=self._heartbeat.is_alive,
            on_interrupts=self._interrupt,
            on_compared=self._leases_compared,
            on_connect=self._postgres_reached,
            on_failure=self._renewal_ended,
        )
        self._start_duties(pool, journal, embedder.space)
        self._start_duties_of_tools(tools_pool, embedder)

    def _start_duties(self, pool: Pool, journal: Journal, space: Space) -> None:
        settings, wake = self._settings, self._dispatcher.wake
        self._duties.start(
            self._heartbeat.beat(),
            rescue_lost_runs(journal, settings, self._contact, on_rescue=wake),
            complete_ended_batches(journal),
            log_silence(self._contact, silence_max_s=settings.lease_s / 2),
            start_due_subscriptions(
                pool, settings, is_draining=lambda: self._executions.is_draining, on_start=wake
            ),
            advance_journeys(pool, settings, is_draining=lambda: self._executions.is_draining, on_order=wake),
            self._dispatcher.run(),
            save_metrics(self._metrics, lease_s=settings.lease_s),
            build_vector_indexes(settings, space),
            index_earlier_words(settings),
            record_facts_of_earlier_runs(settings),
            log_redis_refusals(settings.redis_url),
            on_failure=self._shut_down,
        )
        listener = listen_for_signals(
            settings.redis_url, on_cooldown=self._clients.admission.apply, on_target=self._target_changed
        )
        self._duties.start(listener, on_failure=log_deafness)

    def _start_duties_of_tools(self, tools_pool: Pool, embedder: Embedder) -> None:
        settings = self._settings

        def is_draining() -> bool:
            return self._executions.is_draining

        self._duties.start(
            perform_rechecks(tools_pool, embedder, settings, is_draining=is_draining),
            send_deliveries(tools_pool, settings, is_draining=is_draining),
            on_failure=self._shut_down,
        )

    async def _play(self, run_id: UUID) -> Outcome:
        await self._servers.wait_for_first_attempts()  # a run keeps the tools that are there when it begins
        return await self._executions.execute(run_id)

    async def _close(self) -> None:
        await self._duties.stop()
        with outages_logged("metrics"), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SAVE_S):
                await self._metrics.save(is_last=True)
        await self._resources.aclose()

    def _set_gauges(self) -> None:
        set_slots(self._slots, busy=self._executions.busy_slots)

    def _wake_dispatcher(self) -> None:
        self._dispatcher.wake()

    def _drain(self) -> None:
        self._executions.drain()
        self._duties.start(self._executions.cancel_after_grace(), on_failure=self._shut_down)

    def _interrupt(self, interrupts: list[Interrupt]) -> None:
        self._loop.call_soon_threadsafe(self._executions.interrupt, interrupts)

    def _compare_leases(self) -> None:
        self._renewal.renew_now()

    def _leases_compared(self, runs: Sequence[LeasedRun], server_started_at: datetime) -> None:
        self._loop.call_soon_threadsafe(self._executions.confirm, runs, server_started_at)

    def _postgres_reached(self) -> None:
        self._loop.call_soon_threadsafe(self._dispatcher.wake)

    def _renewal_ended(self, error: BaseException) -> None:
        self._loop.call_soon_threadsafe(self._shut_down, error)

    def _target_changed(self, target: UUID) -> None:
        self._dispatcher.wake()
        if self._executions.includes(target):
            self._renewal.renew_now()

    def _shut_down(self, error: BaseException) -> None:
        # A worker that no longer rescues or dispatches only looks alive: it ends, and its supervisor starts another.
        log.critical("worker.broken", exc_info=error)
        self._is_broken = True
        if not self._executions.is_draining:  # a second SIGTERM makes Celery abandon the runs
            self._drain()
            os.kill(os.getpid(), signal.SIGTERM)  # as the supervisor would


def log_unusable(settings: Settings) -> None:
    """Log the tools, search providers and skills that are configured and cannot be used."""
    for broken in registry().broken:
        log.error("tools.broken", source=broken.source, reason=broken.reason)
    for name, reason in select_providers(settings)[1].items():
        log.error("search.off", provider=name, reason=reason)
    for rejection in skills().catalogue().rejections:
        log.error("skills.left_out", folder=str(rejection.folder), reason=rejection.reason)
