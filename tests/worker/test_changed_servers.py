"""A worker that another Postgres server answers: it drops what it has lost there before it acquires a run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from support.lagging_standby import LaggingStandby
from support.run_harness import LEASE, Stage
from support.scripted_model import Says, says

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.connect import connect
from chiron_workers.errors import ServerChanged
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import acquire, renew
from chiron_workers.states import Outcome
from chiron_workers.worker.execution import Execution
from chiron_workers.worker.executions import Executions
from chiron_workers.worker.model_clients import ModelClients

DISPATCH = "update runs set dispatched_at = now() where id = %s returning 1"
EARLIER = timedelta(days=1)


@dataclass
class HeldModel:
    """Answers once a test lets it."""

    asks: int = 0
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, _request: dict[str, Any]) -> Says:
        self.asks += 1
        await self.is_open.wait()
        return says("done")

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(30):
            while self.asks < times:
                await asyncio.sleep(0.01)


@dataclass
class Comparisons:
    """What the renewal thread does when it is called: it compares the leases with the rows, and says what became of them."""

    stage: Stage
    executions: Executions | None = None
    count: int = 0

    def make(self) -> None:
        assert self.executions is not None
        self.count += 1
        runs = self.executions.leases()
        with connect(self.stage.settings.database_url) as connection:
            self.executions.interrupt(renew(connection, runs, lease_for=LEASE))
            row = connection.execute("select pg_postmaster_start_time() as started_at").fetchone()
        assert row is not None
        self.executions.confirm(runs, row["started_at"])


@asynccontextmanager
async def executions_of(
    stage: Stage, comparisons: Comparisons, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Executions]:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stage.server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    clients = ModelClients(stage.settings)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    tools = Toolbox(
        stage.registry, journal, stage.pool, stage.embedder, stage.settings, clients.of, stage.skills
    )
    executions = Executions(
        stage.settings,
        journal,
        clients,
        tools,
        worker="here",
        slots=4,
        on_change=lambda: None,
        compare_leases=comparisons.make,
    )
    comparisons.executions = executions
    yield executions
    await clients.close()


def execution_of(executions: Executions, run_id: UUID) -> Execution:
    return executions._by_run[run_id]


async def test_an_acquisition_is_refused_on_another_server_than_that_of_the_leases(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    before = (await stage.rows("select pg_postmaster_start_time() as started_at"))[0]["started_at"]
    await stage.rows(DISPATCH, run_id)
    with pytest.raises(ServerChanged):
        await acquire(
            stage.pool, run_id, worker="here", lease_for=LEASE, server_starts=[before, before - EARLIER]
        )
    row = await stage.row(run_id)
    assert (row["state"], row["lease"]) == ("queued", 0)
    acquired = await acquire(stage.pool, run_id, worker="here", lease_for=LEASE, server_starts=[before])
    assert acquired is not None
    assert acquired[0].server_started_at == before


async def test_a_worker_drops_the_runs_whose_token_is_gone_before_it_acquires_new_ones(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, comparisons = HeldModel(), Comparisons(stage)
    await stage.model(model.answer)
    lost_id, kept_id, next_id = await stage.submit("tides", "waves", "moons")
    async with executions_of(stage, comparisons, monkeypatch) as executions:
        await stage.rows(DISPATCH, kept_id)
        kept = asyncio.create_task(executions.execute(kept_id))
        await model.until_asked(1)
        standby = LaggingStandby.of(stage.settings.database_url)
        await stage.rows(DISPATCH, lost_id)
        lost = asyncio.create_task(executions.execute(lost_id))
        await model.until_asked(2)
        standby.promote()
        for run_id in (lost_id, kept_id):
            execution_of(executions, run_id).confirmed_on -= EARLIER
        await stage.claim(lost_id, worker="another")
        await stage.rows(DISPATCH, next_id)
        following = asyncio.create_task(executions.execute(next_id))
        async with asyncio.timeout(30):
            assert await lost is Outcome.LEFT
        assert comparisons.count == 1
        model.is_open.set()
        assert await kept is Outcome.PLAYED
        assert await following is Outcome.PLAYED
    row = await stage.row(lost_id)
    assert (row["state"], row["worker"], row["lease"], row["entries"]) == ("running", "another", 1, 0)


async def test_a_worker_that_acquires_anew_what_it_still_executes_drops_the_former_execution(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, comparisons = HeldModel(), Comparisons(stage)
    await stage.model(model.answer)
    (run_id,) = await stage.submit("tides")
    standby = LaggingStandby.of(stage.settings.database_url)
    async with executions_of(stage, comparisons, monkeypatch) as executions:
        await stage.rows(DISPATCH, run_id)
        former = asyncio.create_task(executions.execute(run_id))
        await model.until_asked(1)
        standby.promote()
        await stage.rows(DISPATCH, run_id)
        latter = asyncio.create_task(executions.execute(run_id))
        async with asyncio.timeout(30):
            assert await former is Outcome.LEFT
        await model.until_asked(2)
        model.is_open.set()
        assert await latter is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["state"], row["lease"], row["turns"]) == ("completed", 1, 1)
