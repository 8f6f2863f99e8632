"""A model that is held keeps its runs waiting, and no others."""

from datetime import timedelta
from uuid import UUID

import pytest

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.steering import pause, resume
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict
from chiron_workers.runs.leases import acquire
from chiron_workers.runs.model_holds import active_holds, hold

HOUR = timedelta(hours=1)
LEASE = timedelta(seconds=12)


async def batch(pool: Pool, *models: str) -> tuple[UUID, list[UUID]]:
    """A batch with a run for each model, nobody rung yet."""
    runs = [NewRun(f"topic {n}", "research", "Physics", model, 5) for n, model in enumerate(models)]
    found = await submit(pool, NewBatch(runs, "Physics"))
    async with pool.connection() as connection:
        await connection.execute("update runs set dispatched_at = null")
    return found.batch_id, found.run_ids


async def rung(pool: Pool) -> set[UUID]:
    look = await dispatch_next(pool, room=lambda: 10, redispatch_after=timedelta(), model_limits={})
    return {run.id for run in look.runs_to_dispatch}


async def test_runs_of_a_held_model_are_neither_rung_nor_claimed(pool: Pool) -> None:
    _, (held, free) = await batch(pool, "claude-opus-5-5", "claude-haiku-4-5")
    await hold(pool, "claude-opus-5-5", hold_for=HOUR, reason="A spend limit.")
    assert await rung(pool) == {free}
    assert await acquire(pool, held, worker="here", lease_for=LEASE) is None
    assert await acquire(pool, free, worker="here", lease_for=LEASE) is not None


async def test_a_hold_that_is_over_holds_nothing(pool: Pool) -> None:
    _, (run,) = await batch(pool, "claude-opus-5-5")
    await hold(pool, "claude-opus-5-5", hold_for=timedelta(seconds=-1), reason="over")
    assert await active_holds(pool) == []
    assert await rung(pool) == {run}
    assert await acquire(pool, run, worker="here", lease_for=LEASE) is not None


async def test_the_hold_that_ends_later_stays(pool: Pool) -> None:
    await hold(pool, "m", hold_for=HOUR, reason="long")
    await hold(pool, "m", hold_for=HOUR / 2, reason="shorter")
    (one,) = await active_holds(pool)
    assert one.reason == "long"
    await hold(pool, "m", hold_for=2 * HOUR, reason="longer")
    (two,) = await active_holds(pool)
    assert (two.reason, two.until - one.until > HOUR / 2) == ("longer", True)


async def test_doorbells_of_a_held_model_are_taken_back_and_those_of_others_stay_out(pool: Pool) -> None:
    _, (held, free) = await batch(pool, "claude-opus-5-5", "claude-haiku-4-5")
    assert await rung(pool) == {held, free}
    await hold(pool, "claude-opus-5-5", hold_for=HOUR, reason="full")
    async with pool.connection() as connection:
        rows = await (
            await connection.execute("select id, dispatched_at is null as back from runs")
        ).fetchall()
    assert {row["id"]: row["back"] for row in rows} == {held: True, free: False}


async def test_resume_lifts_the_holds_of_a_batchs_models_and_no_others(pool: Pool) -> None:
    batch_id, (run,) = await batch(pool, "claude-opus-5-5")
    for model in ("claude-opus-5-5", "claude-haiku-4-5"):
        await hold(pool, model, hold_for=HOUR, reason="A spend limit.")
    steered = await resume(pool, batch_id)
    assert (steered.changed, steered.lifted_models) == (0, ("claude-opus-5-5",))
    assert [found.model for found in await active_holds(pool)] == ["claude-haiku-4-5"]
    assert await rung(pool) == {run}
    with pytest.raises(Conflict, match="nothing of it is paused"):
        await resume(pool, batch_id)


async def test_resume_of_one_paused_run_lifts_the_hold_of_its_model(pool: Pool) -> None:
    _, (run,) = await batch(pool, "claude-opus-5-5")
    await pause(pool, run)
    await hold(pool, "claude-opus-5-5", hold_for=HOUR, reason="A spend limit.")
    steered = await resume(pool, run)
    assert (steered.changed, steered.lifted_models, await active_holds(pool)) == (1, ("claude-opus-5-5",), [])


async def test_a_summary_names_the_held_models_that_queued_runs_wait_for(pool: Pool) -> None:
    batch_id, (held, free) = await batch(pool, "claude-opus-5-5", "claude-haiku-4-5")
    await hold(pool, "claude-opus-5-5", hold_for=HOUR, reason="A spend limit.")
    await hold(pool, "claude-third", hold_for=HOUR, reason="of nobody here")
    (shown,) = (await summary(pool, batch_id)).held
    assert (shown["model"], shown["reason"]) == ("claude-opus-5-5", "A spend limit.")
    assert (await run_summary(pool, held)).held == shown
    assert (await run_summary(pool, free)).held is None
