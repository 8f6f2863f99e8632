"""A batch is completed once, after the commits that ended its runs, whoever is killed in between."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from support.backdated_runs import age, forget_the_oldest
from support.run_harness import LEASE, Stage

from chiron_workers.batches.prune import prune
from chiron_workers.batches.steering import cancel
from chiron_workers.runs.batch_completion import complete_batch, complete_batches
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import say
from chiron_workers.runs.release import Release, failed_release, release_run
from chiron_workers.runs.rescue import rescue
from chiron_workers.states import EventKind, RunState

END = Release(RunState.COMPLETED, ((EventKind.RUN_COMPLETED, {"answer": "42"}),), answer="42")


def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


async def end_unsaid(stage: Stage, run_id: UUID, release: Release = END) -> UUID:
    """End a run as a process does that is killed right after; its batch."""
    run = await stage.claim(run_id)
    async with stage.pool.connection() as connection, connection.transaction():
        assert await release_run(connection, run, release)
    return run.batch_id


async def completions(stage: Stage) -> list[dict[str, Any]]:
    return await stage.rows("select run_id, data from events where kind = 'batch.completed'")


async def test_runs_that_end_at_the_same_time_complete_their_batch_once(stage: Stage) -> None:
    runs = [await stage.claim(run_id) for run_id in await stage.submit(*(f"topic {n}" for n in range(20)))]
    await asyncio.gather(*(journal(stage).release(run, END) for run in runs))
    [said] = await completions(stage)
    assert said["data"] == {"runs": {"completed": 20}, "silent": 0, "nothing_found": 20}
    assert [event.run_id for event in stage.published if event.kind == "batch.completed"] == [said["run_id"]]


async def test_a_cancel_and_the_end_of_the_other_run_complete_the_batch_once(stage: Stage) -> None:
    for _ in range(10):
        waiting, held = await stage.submit("tides", "moons")
        run = await stage.claim(held)
        await asyncio.gather(cancel(stage.pool, waiting), journal(stage).release(run, END))
    assert len(await completions(stage)) == 10


async def test_the_end_of_a_batch_that_a_killed_process_has_not_said_is_said_by_the_next_look(
    stage: Stage,
) -> None:
    first, second = await stage.submit("tides", "moons")
    batch_id = await end_unsaid(stage, first)
    assert await complete_batch(stage.pool, batch_id) == await complete_batches(stage.pool) == []
    await end_unsaid(stage, second, failed_release("refusal", "The model refuses."))
    [event] = await complete_batches(stage.pool)
    assert (event.kind, event.run_id, event.batch_id) == ("batch.completed", second, batch_id)
    assert [row["run_id"] for row in await completions(stage)] == [second]
    assert (await stage.kinds(second))[-2:] == ["run.failed", "batch.completed"]
    assert await complete_batch(stage.pool, batch_id) == await complete_batches(stage.pool) == []


async def test_a_batch_whose_last_run_the_rescue_cancels_is_completed_by_it(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.claim(run_id)
    await cancel(stage.pool, run_id)
    await stage.rows("update runs set leased_until = now() - interval '1 hour' returning 1")
    assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
    assert [event.kind for event in stage.published[-2:]] == ["run.cancelled", "batch.completed"]
    assert len(await completions(stage)) == 1


async def test_a_batch_that_a_message_opened_again_is_not_completed_and_then_once_more(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    batch_id = await end_unsaid(stage, run_id)
    assert await say(stage.pool, run_id, "And the moon?")
    assert await complete_batch(stage.pool, batch_id) == []
    await stage.rows("update runs set unread = 0 returning 1")
    for _ in range(2):
        await end_unsaid(stage, run_id)
        assert len(await complete_batch(stage.pool, batch_id)) == 1
        await say(stage.pool, run_id, "And the sun?")
        await stage.rows("update runs set unread = 0 returning 1")
    assert len(await completions(stage)) == 2


async def test_a_batch_whose_runs_are_pruned_before_its_end_is_said_is_completed_in_silence(
    stage: Stage,
) -> None:
    await forget_the_oldest(stage.pool)
    (run_id,) = await stage.submit("tides")
    await end_unsaid(stage, await age(stage.pool, run_id, days=200))
    months = await prune(stage.pool, older_than=timedelta(days=90))
    assert [month.runs for month in months if not month.kept] == [1]
    assert await complete_batches(stage.pool) == []
    [batch] = await stage.rows("select open_runs, finished_at is not null as is_finished from batches")
    assert (batch["open_runs"], batch["is_finished"]) == (0, True)


async def test_a_batch_that_postgres_refuses_to_complete_keeps_nobody_else_from_an_end(stage: Stage) -> None:
    refused_run, other_run = [(await stage.submit(topic))[0] for topic in ("tides", "moons")]
    refused = await end_unsaid(stage, refused_run)
    async with stage.pool.connection() as connection:
        await connection.execute(
            "create function refuse() returns trigger language plpgsql as $$ begin raise data_exception; end $$"
        )
        await connection.execute(
            f"create trigger refuse before update on batches for each row when (new.id = '{refused}') execute function refuse()"
        )
    assert await complete_batch(stage.pool, refused) == []
    await end_unsaid(stage, other_run)
    assert [event.run_id for event in await complete_batches(stage.pool)] == [other_run]
    async with stage.pool.connection() as connection:
        await connection.execute("drop trigger refuse on batches")
        await connection.execute("update duty_failures set retry_at = now() - interval '1 second'")
    assert [event.run_id for event in await complete_batches(stage.pool)] == [refused_run]


@pytest.mark.parametrize("lock", ["select 1 from batches for update", "select 1 from batch_sums for update"])
async def test_no_end_of_a_run_waits_for_a_row_of_its_batch(stage: Stage, lock: str) -> None:
    first, _ = await stage.submit("tides", "moons")
    run = await stage.claim(first)
    await stage.rows(
        "insert into batch_sums (batch_id, shard) select %s, generate_series(0, 15) returning 1", run.batch_id
    )
    async with stage.pool.connection() as other, other.transaction():
        await other.execute(lock)
        async with asyncio.timeout(30):
            assert await journal(stage).release(run, END)
