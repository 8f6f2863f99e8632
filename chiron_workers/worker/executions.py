import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.outages import is_transient
from chiron_workers.errors import ServerChanged
from chiron_workers.runs.events import Event
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Interrupt, Run, acquire
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import Execution
from chiron_workers.worker.model_clients import ModelClients

log = structlog.get_logger()

# Of leases with another server, before a message is passed over; its run is dispatched again.
COMPARISONS_MAX = 3


class Executions:
    """The runs that one worker has leased and executes side by side, until it drains.

    Args:
        worker: The name that the leases carry.
        slots: Runs at once.
        on_change: Called when an execution began, was not begun after all, or ended.
        compare_leases: Called where another Postgres server answers than the server that confirmed this worker's leases;
            `interrupt` and `confirm` then say what became of them.
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
        compare_leases: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._clients = clients
        self._tools = tools
        self._worker = worker
        self._slots = slots
        self._on_change = on_change
        self._compare_leases = compare_leases
        self._is_compared = asyncio.Event()
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

    def leases(self) -> Sequence[LeasedRun]:
        """The runs of this worker; callable from any thread."""
        return [execution.run for execution in tuple(self._by_run.values())]

    def includes(self, target: UUID) -> bool:
        """Whether a run, or a run of a batch, with this id is executed here."""
        return any(
            target in (execution.run.id, execution.run.batch_id) for execution in self._by_run.values()
        )

    def interrupt(self, interrupts: Sequence[Interrupt]) -> None:
        """Drop the executions whose lease is lost, and stop those of which somebody requests it."""
        for interrupt in interrupts:
            execution = self._by_run.get(interrupt.id)
            if execution is None or execution.run.token != interrupt.token:
                continue
            if interrupt.is_lost:
                execution.drop()
            elif interrupt.stop_requested is not None:
                execution.interrupt(interrupt.stop_requested)

    def confirm(self, runs: Sequence[LeasedRun], server_started_at: datetime) -> None:
        """Note that the leases of these runs were compared with the rows of a server, and the lost ones dropped."""
        for run in runs:
            execution = self._by_run.get(run.id)
            if execution is not None and execution.run.token == run.token:
                execution.confirmed_on = server_started_at
        self._is_compared.set()

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
        try:
            run_and_event = await self._acquire(run_id)
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
        if (former := self._by_run.get(run.id)) is not None:
            former.drop()
        self._by_run[run.id] = execution
        return execution

    async def _acquire(self, run_id: UUID) -> tuple[Run, Event] | None:
        # After a failover the row of a run that is executed here may be free again. First that execution is dropped.
        lease_for = timedelta(seconds=self._settings.lease_s)
        for _ in range(COMPARISONS_MAX):
            server_starts = {execution.confirmed_on for execution in self._by_run.values()}
            try:
                return await acquire(
                    self._journal.pool,
                    run_id,
                    worker=self._worker,
                    lease_for=lease_for,
                    server_starts=server_starts,
                )
            except ServerChanged as error:
                log.warning("claim.waits", run_id=str(run_id), reason=str(error))
            if self.is_draining:
                return None
            self._is_compared.clear()
            self._compare_leases()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.lease_s):
                    await self._is_compared.wait()
        return None

    async def _finish(self, execution: Execution) -> Outcome:
        try:
            return await execution.execute()
        finally:
            # Else the run was leased here anew while this execution forgot its skills.
            if self._by_run.get(execution.run.id) is execution:
                del self._by_run[execution.run.id]
            self._on_change()
