import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.outages import is_transient
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Interrupt, acquire
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import Execution
from chiron_workers.worker.model_clients import ModelClients

log = structlog.get_logger()


class Executions:
    """The runs that one worker has leased and executes side by side, until it drains.

    Args:
        worker: The name that the leases carry.
        slots: Runs at once.
        on_change: Called when an execution began, was not begun after all, or ended.
    """

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        clients: ModelClients,
        tools: Toolbox,
        *,
        worker: str,
        slots: int,
        on_change: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._clients = clients
        self._tools = tools
        self._worker = worker
        self._slots = slots
        self._on_change = on_change
        self._by_run: dict[UUID, Execution] = {}
        self._acquiring = 0  # runs that may be leased by now, and are not among those that are executed yet
        self.is_draining = False

    async def execute(self, run_id: UUID) -> Outcome:
        """Lease a run and execute it until it ends or this worker releases it; NOT_OURS if it cannot be leased."""
        if self.is_draining:
            return Outcome.NOT_OURS
        self._acquiring += 1
        try:
            execution = await self._begin(run_id)
        finally:
            self._acquiring -= 1
            self._on_change()
        return Outcome.NOT_OURS if execution is None else await self._finish(execution)

    @property
    def free_slots(self) -> int:
        """Runs that could begin here now."""
        return 0 if self.is_draining else self._slots - len(self._by_run) - self._acquiring

    @property
    def busy_slots(self) -> int:
        """Runs that are executed here now."""
        return len(self._by_run)

    def leases(self) -> Sequence[tuple[UUID, int]]:
        """The runs of this worker as (id, lease); callable from any thread."""
        return [(execution.run.id, execution.run.lease) for execution in tuple(self._by_run.values())]

    def includes(self, target: UUID) -> bool:
        """Whether a run, or a run of a batch, with this id is executed here."""
        return any(
            target in (execution.run.id, execution.run.batch_id) for execution in self._by_run.values()
        )

    def interrupt(self, interrupts: Sequence[Interrupt]) -> None:
        """Drop the executions whose lease is lost, and stop those of which somebody requests it."""
        for interrupt in interrupts:
            execution = self._by_run.get(interrupt.id)
            if execution is None or execution.run.lease != interrupt.lease:
                continue
            if interrupt.is_lost:
                execution.drop()
            elif interrupt.stop_requested is not None:
                execution.interrupt(interrupt.stop_requested)

    def drain(self) -> None:
        """Begin no further runs, and release each as soon as its call in flight is answered."""
        self.is_draining = True
        log.info("worker.draining", runs=len(self._by_run))
        for execution in self._by_run.values():
            execution.stop("the worker stops")

    async def cancel_after_grace(self) -> None:
        """Cancel, `drain_s` from now, the calls that are still in flight."""
        await asyncio.sleep(self._settings.drain_s)
        for execution in list(self._by_run.values()):
            execution.cancel("the worker stops")

    async def _begin(self, run_id: UUID) -> Execution | None:
        """Lease a run for an execution here; None if it cannot be leased."""
        lease_for = timedelta(seconds=self._settings.lease_s)
        try:
            run_and_event = await acquire(
                self._journal.pool, run_id, worker=self._worker, lease_for=lease_for
            )
        except (psycopg.Error, PoolTimeout) as error:
            if not is_transient(error):
                raise
            log.warning("claim.failed", run_id=str(run_id), error=str(error).strip())
            return None
        if run_and_event is None:
            return None
        run, event = run_and_event
        self._journal.publish_all([event])
        execution = Execution(run, self._journal, self._clients.of(run), self._tools, self._settings)
        execution.is_stopping = self.is_draining
        self._by_run[run.id] = execution
        return execution

    async def _finish(self, execution: Execution) -> Outcome:
        try:
            return await execution.execute()
        finally:
            # Else the run was leased here anew while this execution forgot its skills.
            if self._by_run.get(execution.run.id) is execution:
                del self._by_run[execution.run.id]
            self._on_change()
