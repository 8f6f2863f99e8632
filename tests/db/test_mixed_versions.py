"""Workers of the version before and of this one side by side on this schema; the old ones run their own statements."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from support.run_harness import LEASE, Stage

from chiron_workers.batches.dispatch import dispatch_next, undo_dispatch
from chiron_workers.celery import QueuedRun
from chiron_workers.db.connect import connect
from chiron_workers.db.queries import load
from chiron_workers.errors import LeaseLost
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import acquire, renew
from chiron_workers.states import StopRequest
from chiron_workers.worker.execution import hand_back

RELEASED = Path(__file__).parent / "released" / "schema_0013"
OLD = load(str(RELEASED / "leases.py")) | load(str(RELEASED / "dispatch.py"))
AN_HOUR = timedelta(hours=1)


class OldWorker:
    """A worker of schema 13: its statements, word for word."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection

    async def do(self, statement: str, **args: Any) -> list[DictRow]:
        cursor = await self._connection.execute(OLD[statement], args)
        return await cursor.fetchall() if cursor.description else []

    async def dispatch_next(self, room: int) -> list[QueuedRun]:
        rows = await self.do("dispatch_next", models=[], limits=[], limit=room)
        return [QueuedRun(**row) for row in rows]

    async def acquire(self, run_id: UUID) -> list[DictRow]:
        return await self.do("acquire", run_id=run_id, worker="old", lease_for=LEASE)


@pytest.fixture
async def old(stage: Stage) -> AsyncIterator[OldWorker]:
    async with stage.pool.connection() as connection:
        yield OldWorker(connection)


async def new_dispatch(stage: Stage, room: int) -> list[QueuedRun]:
    turn = await dispatch_next(stage.pool, room=lambda: room, redispatch_after=AN_HOUR, model_limits={})
    return turn.runs_to_dispatch


async def test_no_run_is_dispatched_twice_and_each_message_is_taken_by_whoever_gets_it(
    stage: Stage, old: OldWorker
) -> None:
    run_ids = await stage.submit(*(f"topic {n}" for n in range(4)))
    of_old = [run.id for run in await old.dispatch_next(2)]
    # Two of its four places are taken by those of the old one.
    of_new = [run.id for run in await new_dispatch(stage, 4)]
    assert sorted(of_old + of_new) == sorted(run_ids)
    assert await old.dispatch_next(4) == await new_dispatch(stage, 4) == []
    for run_id in of_old:
        assert await acquire(stage.pool, run_id, worker="new", lease_for=LEASE)
        assert await old.acquire(run_id) == []
    for run_id in of_new:
        assert len(await old.acquire(run_id)) == 1
        assert await acquire(stage.pool, run_id, worker="new", lease_for=LEASE) is None
    assert [row["lease"] for row in await stage.rows("select lease from runs")] == [1] * 4


async def test_what_one_version_undoes_the_other_dispatches(stage: Stage, old: OldWorker) -> None:
    (run_id,) = await stage.submit("tides")
    assert await old.dispatch_next(1)
    await old.do("undo", run_ids=[run_id])
    again = await new_dispatch(stage, 1)
    assert [run.id for run in again] == [run_id]
    await undo_dispatch(stage.pool, again)
    assert [run.id for run in await old.dispatch_next(1)] == [run_id]


async def test_each_renews_its_own_and_learns_of_stops_and_losses(
    stage: Stage, old: OldWorker, database_url: str
) -> None:
    held_by_old, held_by_new = await stage.submit("tides", "moons")
    await new_dispatch(stage, 2)
    await old.acquire(held_by_old)
    ours = await acquire(stage.pool, held_by_new, worker="new", lease_for=LEASE)
    assert ours is not None
    await stage.rows("update runs set stop_requested = 'pause' returning 1")
    leases = {"run_ids": [held_by_old], "leases": [1], "lease_for": AN_HOUR}
    await old.do("renew", **leases)
    [interrupt] = await old.do("interrupts", **leases)
    assert (interrupt["is_lost"], interrupt["wanted"]) == (False, "pause")
    with connect(database_url) as connection:
        [stop] = renew(connection, [ours[0]], lease_for=AN_HOUR)
    assert (stop.is_lost, stop.stop_requested) == (False, StopRequest.PAUSE)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    assert await journal.release(ours[0], hand_back("the worker stops"))
    [interrupt] = await old.do("interrupts", run_ids=[held_by_new], leases=[1])
    assert interrupt["is_lost"]


async def test_an_acquisition_of_an_old_worker_has_a_token_of_its_own_too(
    stage: Stage, old: OldWorker
) -> None:
    (run_id,) = await stage.submit("tides")
    ours = await stage.claim(run_id)
    # A failover has forgotten our acquisition, and the old worker gets the same number.
    await stage.rows("update runs set state = 'queued', lease = 0, token = gen_random_uuid() returning 1")
    await stage.rows("update runs set leased_until = null, dispatched_at = now() returning 1")
    await old.acquire(run_id)
    row = await stage.row(run_id)
    assert row["lease"] == ours.lease
    assert row["token"] != ours.token
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    with pytest.raises(LeaseLost):
        await journal.release(ours, hand_back("the worker stops"))


async def test_an_acquisition_by_an_old_worker_forgets_ends_of_workers_within_an_earlier_step(
    stage: Stage, old: OldWorker
) -> None:
    await stage.submit("tides", "moons")
    await stage.rows("update runs set shared_ends = 2, sole_ends = 1 returning 1")
    await stage.rows("update runs set steps = 1 where topic = 'moons' returning 1")
    for run in await old.dispatch_next(2):
        assert await old.acquire(run.id)
    ends = "select topic, shared_ends, sole_ends from runs order by topic"
    assert [tuple(row.values()) for row in await stage.rows(ends)] == [("moons", 0, 0), ("tides", 2, 1)]
