"""Which runs may be why their workers end: the others lose nothing, suspects are played one at a time, and a cause pauses."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from uuid import UUID

import pytest
from support.run_harness import LEASE, Stage

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.steering import cancel, pause, resume
from chiron_workers.duty_failures import isolated
from chiron_workers.instruments import REGISTRY
from chiron_workers.runs import rescue as rescue_module
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, acquire
from chiron_workers.runs.model_holds import hold
from chiron_workers.runs.rescue import rescue
from chiron_workers.states import Duty
from chiron_workers.worker.execution import hand_back

AN_HOUR = timedelta(hours=1)
A_SECOND = timedelta(seconds=1)
TOPICS = [f"topic {n}" for n in range(8)]


def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


async def dispatch(stage: Stage, room: int = 8) -> list[UUID]:
    turn = await dispatch_next(stage.pool, room=lambda: room, redispatch_after=AN_HOUR, model_limits={})
    return [run.id for run in turn.runs_to_dispatch]


async def acquire_next(stage: Stage, worker: str, room: int = 8) -> list[Run]:
    """A worker with so much room acquires what is dispatched for it."""
    acquisitions = [
        await acquire(stage.pool, run_id, worker=worker, lease_for=LEASE)
        for run_id in await dispatch(stage, room)
    ]
    return [acquisition[0] for acquisition in acquisitions if acquisition]


async def lose(stage: Stage, workers: Iterable[str], *, over_for: timedelta = A_SECOND) -> None:
    """The leases of workers run out."""
    query = (
        "update runs set leased_until = now() - %s where state = 'running' and worker = any(%s) returning 1"
    )
    assert await stage.rows(query, over_for, list(workers))


async def end(stage: Stage, *workers: str) -> None:
    """Workers end, and their runs are rescued."""
    await lose(stage, workers)
    await rescue(journal(stage), may_rescue=lambda _: True)


async def commit_step(stage: Stage, runs: Iterable[Run]) -> None:
    """As each entry, result and answer does."""
    run_ids = [run.id for run in runs]
    await stage.rows("update runs set steps = steps + 1 where id = any(%s) returning 1", run_ids)


async def ends(stage: Stage) -> dict[tuple[str, int, int], int]:
    """How many runs are in each state, with so many shared and sole ends."""
    query = "select state, shared_ends, sole_ends, count(*) as n from runs group by 1, 2, 3"
    return {(row["state"], row["shared_ends"], row["sole_ends"]): row["n"] for row in await stage.rows(query)}


def pauses() -> float:
    return REGISTRY.get_sample_value("chiron_pauses_total", {"reason": "ended_workers"}) or 0.0


async def test_seven_ends_of_workers_within_one_step_of_eight_runs_fail_and_pause_none(stage: Stage) -> None:
    await stage.submit(*TOPICS)
    for n in (1, 2):
        assert len(await acquire_next(stage, f"w{n}")) == 8
        await end(stage, f"w{n}")
        assert await ends(stage) == {("queued", n, 0): 8}
    suspects = []
    for n in range(3, 8):
        suspects += await acquire_next(stage, f"w{n}")
        assert len(suspects) == n - 2, "one suspect at a time"
        await end(stage, f"w{n}")
    assert len({run.id for run in suspects}) == 5, "each in its turn"
    assert await ends(stage) == {("queued", 2, 1): 5, ("queued", 2, 0): 3}


async def test_runs_that_get_further_lose_nothing_however_often_workers_end(stage: Stage) -> None:
    await stage.submit(*TOPICS[:3])
    for n in range(20):
        runs = await acquire_next(stage, f"w{n}")
        assert len(runs) == 3
        await commit_step(stage, runs)
        await end(stage, f"w{n}")
    assert await ends(stage) == {("queued", 0, 0): 3}
    assert await stage.rows("select 1 from runs where attempt <> 1") == []


async def test_a_run_that_is_alone_on_two_workers_that_end_pauses_with_the_reason(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    before = pauses()
    await acquire_next(stage, "w1")
    await end(stage, "w1")
    row = await stage.row(run_id)
    assert (row["state"], row["attempt"]) == ("queued", 2)
    await acquire_next(stage, "w2")
    await end(stage, "w2")
    row = await stage.row(run_id)
    assert (row["state"], row["error"]["kind"]) == ("paused", "ended_workers")
    reason = row["error"]["message"]
    assert reason.startswith("2 workers ended while they played one step of this run, w2 last")
    assert [remedy["action"] for remedy in row["error"]["remedies"]] == ["resume"]
    events = await stage.rows(
        "select kind, data ->> 'reason' as reason from events order by seq desc limit 3"
    )
    assert [event["kind"] for event in events] == ["run.paused", "run.resumed", "run.handed_back"]
    assert events[0]["reason"] == reason
    assert "this run may be why" in events[2]["reason"]
    assert pauses() == before + 1


async def test_a_cause_that_is_resumed_is_played_again_and_pauses_at_the_next_end(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    for n in (1, 2):
        await acquire_next(stage, f"w{n}")
        await end(stage, f"w{n}")
    for n in (3, 4):
        await resume(stage.pool, run_id)
        assert await acquire_next(stage, f"w{n}")
        await end(stage, f"w{n}")
        assert await ends(stage) == {("paused", 0, 2): 1}
    await resume(stage.pool, run_id)
    await commit_step(stage, await acquire_next(stage, "w5"))
    await end(stage, "w5")
    await acquire_next(stage, "w6")
    assert await ends(stage) == {("running", 0, 0): 1}, "a step clears it"


async def test_a_stop_that_was_requested_of_a_cause_is_obeyed(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    for n, (stop, state) in enumerate([(pause, "paused"), (cancel, "cancelled")]):
        await acquire_next(stage, f"w{n}")
        await stop(stage.pool, run_id)
        await end(stage, f"w{n}")
        assert (await stage.row(run_id))["state"] == state
        if state == "paused":
            await resume(stage.pool, run_id)


async def test_a_machine_that_reboots_loses_no_run_of_its_workers(stage: Stage) -> None:
    await stage.submit(*TOPICS)
    for name, room in (("w1", 3), ("w2", 4), ("w3", 1)):
        assert len(await acquire_next(stage, name, room)) == room
    await end(stage, "w1", "w2", "w3")
    assert await ends(stage) == {("queued", 1, 0): 7, ("queued", 0, 1): 1}
    assert len(await acquire_next(stage, "w4")) == 8, "a single suspect does not wait"


async def test_a_release_counts_nothing_and_clears_no_run(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await acquire_next(stage, "w1")
    await end(stage, "w1")
    for n in range(2, 6):
        [run] = await acquire_next(stage, f"w{n}")
        await journal(stage).release(run, hand_back("the worker stops"))
        row = await stage.row(run_id)
        assert (row["state"], row["sole_ends"], row["attempt"]) == ("queued", 1, 2)


async def test_the_leases_of_an_ended_worker_may_run_out_one_after_another(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue_module, "asyncio", SimpleNamespace(sleep=lambda _: asyncio.sleep(0)))
    await stage.submit(*TOPICS[:2])
    first, _ = await acquire_next(stage, "w1")
    notice = timedelta(seconds=4)
    later = "update runs set leased_until = now() + case when id = %s then interval '-1 s' else interval '3 s' end returning 1"
    await stage.rows(later, first.id)
    assert await rescue(journal(stage), may_rescue=lambda _: True, notice=notice) == 1
    # The first plays again before the lease of the other is over, which was not alone on its worker.
    assert len(await acquire_next(stage, "w2")) == 1
    await lose(stage, ["w1"])
    assert await rescue(journal(stage), may_rescue=lambda _: True, notice=notice) == 1
    assert await ends(stage) == {("running", 1, 0): 1, ("queued", 1, 0): 1}


async def test_runs_of_a_worker_that_are_rescued_in_several_transactions_share_its_end(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue_module, "RUNS_PER_TRANSACTION", 2)
    await stage.submit(*TOPICS[:5])
    await acquire_next(stage, "w1")
    await end(stage, "w1")
    assert await ends(stage) == {("queued", 1, 0): 5}


async def test_a_run_that_a_living_worker_has_left_is_no_suspect(stage: Stage) -> None:
    left_id, _ = await stage.submit(*TOPICS[:2])
    for _ in range(3):
        await acquire_next(stage, "w1")
        expire = "update runs set leased_until = now() - interval '1 s' where id = %s returning 1"
        await stage.rows(expire, left_id)
        assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
    assert await ends(stage) == {("queued", 0, 0): 1, ("running", 0, 0): 1}


async def test_a_run_whose_lease_alone_runs_out_again_and_again_pauses_with_the_reason(stage: Stage) -> None:
    left_id, other_id = await stage.submit(*TOPICS[:2])
    await acquire_next(stage, "w1")
    renewed = "update runs set leased_until = now() + interval '1 hour' where id = %s returning 1"
    await stage.rows(renewed, other_id)
    expire = "update runs set leased_until = now() - interval '1 s' where id = %s returning 1"
    for attempt in range(1, 6):
        await acquire_next(stage, "w1")
        row = await stage.row(left_id)
        assert (row["state"], row["attempt"]) == ("running", attempt)
        await stage.rows(expire, left_id)
        assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
    row = await stage.row(left_id)
    assert (row["state"], row["error"]["kind"]) == ("paused", "lost_leases")
    assert row["error"]["message"].startswith("5 executions of this run in a row committed nothing")
    assert "w1" in row["error"]["message"]
    await resume(stage.pool, left_id)
    for _ in range(7):
        await commit_step(stage, await acquire_next(stage, "w1"))
        await stage.rows(expire, left_id)
        assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
        assert (await stage.row(left_id))["state"] == "queued", "a step begins the count anew"


async def test_suspects_that_wait_keep_no_other_run_waiting(stage: Stage) -> None:
    await stage.submit(*TOPICS[:3], priority=5)
    for n in (1, 2):
        await acquire_next(stage, f"w{n}")
        await end(stage, f"w{n}")
    [suspect] = await acquire_next(stage, "w3")
    others = await stage.submit(*TOPICS[3:5])
    assert [run.id for run in await acquire_next(stage, "w3", 1)] == others[:1], "its batch is no better off"
    assert [run.id for run in await acquire_next(stage, "w3")] == others[1:]
    await commit_step(stage, [suspect])
    [following] = await acquire_next(stage, "w3")
    assert following.topic in TOPICS[:3]
    assert await dispatch(stage) == []


async def test_a_suspect_whose_batch_is_full_keeps_no_suspect_of_another_batch_waiting(stage: Stage) -> None:
    waiting, *_ = await stage.submit(*TOPICS[:2])
    await stage.submit(*TOPICS[2:4])
    await stage.rows("update runs set shared_ends = 2 where topic in ('topic 0', 'topic 2') returning 1")
    full = (
        "update batches set concurrency = 1 where id = (select batch_id from runs where id = %s) returning 1"
    )
    await stage.rows(full, waiting)
    await stage.rows("update runs set priority = 1 where topic = 'topic 1' returning 1")
    assert {run.topic for run in await acquire_next(stage, "w1", 1)} == {"topic 1"}
    assert {run.topic for run in await acquire_next(stage, "w1")} == {"topic 2", "topic 3"}


@pytest.mark.parametrize("obstacle", ["hold", "rest"])
async def test_a_dispatched_suspect_that_nobody_may_acquire_keeps_no_other_suspect_waiting(
    stage: Stage, obstacle: str
) -> None:
    stuck, *_ = await stage.submit(*TOPICS[:2])
    stage.model_name = "offline"
    other, *_ = await stage.submit(*TOPICS[2:4])
    await stage.rows("update runs set shared_ends = 2 where id = any(%s) returning 1", [stuck, other])
    if obstacle == "hold":
        await hold(stage.pool, "claude-opus-5-5", hold_for=AN_HOUR, reason="It is away.")
    # By a look that began before the hold, which undoes the dispatches that it sees.
    await stage.rows("update runs set dispatched_at = now() where id = %s returning 1", stuck)
    if obstacle == "hold":
        assert await acquire(stage.pool, stuck, worker="w1", lease_for=LEASE) is None
    else:
        async with isolated(stage.pool.connection, Duty.DISPATCH, stuck):
            raise ValueError("refused")
    assert other in await dispatch(stage)


async def test_a_suspect_is_no_cause_while_workers_without_a_suspect_end_too(stage: Stage) -> None:
    [suspect_id] = await stage.submit("tides")
    await acquire_next(stage, "w1")
    await end(stage, "w1")
    await stage.submit(*TOPICS)
    for n in range(2, 8):
        others = [run.id for run in await acquire_next(stage, f"other{n}") if run.id != suspect_id]
        await stage.rows("update runs set worker = %s where id = %s returning 1", f"w{n}", suspect_id)
        query = "update runs set steps = steps + 1 where id = any(%s) returning 1"  # so that they are none
        await stage.rows(query, others)
        await end(stage, f"other{n}")
        await end(stage, f"w{n}")
        row = await stage.row(suspect_id)
        assert (row["state"], row["shared_ends"], row["sole_ends"]) == ("queued", n - 1, 1)
    assert await acquire_next(stage, "w8", 9)
    await end(stage, "w8")
    assert (await stage.row(suspect_id))["state"] == "paused"


async def test_a_suspect_on_ten_workers_that_end_is_a_cause_whatever_ends_besides(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.rows("update runs set shared_ends = 8, sole_ends = 1, suspected_at = now() returning 1")
    await stage.rows("insert into worker_ends values ('w1', 3, 0, now() + interval '1 s') returning 1")
    await acquire_next(stage, "w2")
    await end(stage, "w2")
    row = await stage.row(run_id)
    assert (row["state"], row["shared_ends"], row["sole_ends"]) == ("paused", 9, 1)


async def test_a_cause_among_seven_others_pauses_alone_whatever_the_others_do_meanwhile(
    stage: Stage, chance: Random
) -> None:
    cause, *_ = chance.sample(await stage.submit(*TOPICS), k=8)
    playing: list[Run] = []
    for n in range(100):
        playing += await acquire_next(stage, f"w{n}", 8 - len(playing))
        if (await stage.row(cause))["state"] == "paused":
            break
        # A run that is quicker than the cause has committed a step by then.
        await commit_step(stage, [run for run in playing if run.id != cause and chance.random() < 0.3])
        if cause in [run.id for run in playing]:
            await stage.rows("update runs set worker = %s where state = 'running' returning 1", f"w{n}")
            await end(stage, f"w{n}")
            playing = []
    # Nearly always within 40 turns; of 100,000 seeds, the slowest needs 75.
    assert await stage.rows("select id from runs where state = 'paused'") == [{"id": cause}]


@pytest.mark.parametrize("has_progressed", [False, True])
async def test_an_acquisition_forgets_ends_of_an_earlier_step(stage: Stage, has_progressed: bool) -> None:
    (run_id,) = await stage.submit("tides")
    await acquire_next(stage, "w1")
    await end(stage, "w1")
    if has_progressed:
        await commit_step(stage, await acquire_next(stage, "w2"))
        await stage.rows("update runs set state = 'queued' returning 1")
    await acquire_next(stage, "w3")
    assert (await stage.row(run_id))["sole_ends"] == int(not has_progressed)
