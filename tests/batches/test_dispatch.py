"""Who runs next. A slot is played by hand here: what was rung runs until it is ended."""

import asyncio
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from psycopg.sql import SQL

from chiron_workers.batches.dispatch import DISPATCH_MAX, Dispatch, dispatch_next, undo_dispatch
from chiron_workers.batches.dispatch import SQL as SQL_OF_DISPATCH
from chiron_workers.batches.steering import pause
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.runs.leases import acquire

AGAIN = timedelta(seconds=10)
LEASE = timedelta(seconds=12)
MODELS = {"big": "claude-opus-5-5", "small": "claude-haiku-4-5"}


def new_run(
    topic: str, priority: int = 0, model: str = "offline", ready_at: datetime | None = None
) -> NewRun:
    return NewRun(topic, "research", "Physics", model, 20, priority, ready_at=ready_at)


async def batch(
    pool: Pool, name: str, count: int, *, concurrency: int | None = None, **values: object
) -> list[UUID]:
    runs = [new_run(f"{name}{n}", **values) for n in range(count)]  # type: ignore[arg-type]
    return (await submit(pool, NewBatch(runs, "Physics", concurrency=concurrency))).run_ids


async def look(pool: Pool, room: int, **limits: int) -> Dispatch:
    found = {MODELS[name]: most for name, most in limits.items()}
    return await dispatch_next(pool, room=lambda: room, redispatch_after=AGAIN, model_limits=found)


async def rung(pool: Pool, room: int, **limits: int) -> list[str]:
    """The topics that one look rings for, in their order; each is taken at once."""
    found = (await look(pool, room, **limits)).runs_to_dispatch
    for run in found:
        assert await acquire(pool, run.id, worker="w", lease_for=LEASE) is not None
    return [run.topic for run in found]


async def test_a_run_acquired_while_a_look_counts_leaves_no_slot_to_another(
    pool: Pool, database_url: str
) -> None:
    first, _ = await batch(pool, "a", 2)
    assert [run.topic for run in (await look(pool, 1)).runs_to_dispatch] == ["a0"]

    def take_the_last_slot() -> int:
        with psycopg.connect(database_url) as connection:
            connection.execute("update runs set state = 'running' where id = %s", (first,))
        return 0

    turn = await dispatch_next(pool, room=take_the_last_slot, redispatch_after=AGAIN, model_limits={})
    assert (turn.runs_to_dispatch, turn.outstanding) == ([], 1)


async def do(pool: Pool, statement: str, *args: object) -> int:
    async with pool.connection() as connection:
        return (await connection.execute(statement, args)).rowcount


async def end(pool: Pool, *topics: str) -> None:
    ended = await do(
        pool, "update runs set state = 'completed' where state = 'running' and topic = any(%s)", list(topics)
    )
    assert ended == len(topics)


async def test_batches_take_turns_whatever_their_size_and_age(pool: Pool) -> None:
    await batch(pool, "a", 50)
    await batch(pool, "b", 2)
    await batch(pool, "c", 20)
    assert await rung(pool, 9) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "c2", "a3"]


async def test_who_has_fewest_runs_gets_the_next_free_slots(pool: Pool) -> None:
    await batch(pool, "a", 50)
    assert await rung(pool, 6) == [f"a{n}" for n in range(6)]
    await batch(pool, "b", 3)
    await batch(pool, "c", 50)
    await end(pool, "a0")
    assert await rung(pool, 1) == ["b0"]
    await end(pool, "a1", "a2", "a3")
    assert await rung(pool, 3) == ["c0", "b1", "c1"]
    await end(pool, "a4", "a5")
    assert await rung(pool, 2) == ["a6", "a7"], "both others have two"


async def test_priority_goes_before_fairness(pool: Pool) -> None:
    await batch(pool, "a", 10)
    assert await rung(pool, 3) == ["a0", "a1", "a2"]
    await batch(pool, "b", 3)
    runs = [new_run("c0"), new_run("c1", priority=9), new_run("c2", priority=-1)]
    await submit(pool, NewBatch(runs, "Physics"))
    await batch(pool, "d", 4, priority=5)
    assert await rung(pool, 11) == ["c1", "d0", "d1", "d2", "d3", "b0", "b1", "c0", "b2", "a3", "a4"]


async def test_a_batch_of_5_comes_before_the_rest_of_10_000(pool: Pool) -> None:
    await batch(pool, "a", 10_000)
    await rung(pool, 20)
    await batch(pool, "b", 5)
    assert await rung(pool, 5) == [f"b{n}" for n in range(5)]


async def test_no_more_runs_of_a_batch_play_at_once_than_it_allows(pool: Pool) -> None:
    await batch(pool, "a", 10, concurrency=2)
    await batch(pool, "b", 3)
    assert await rung(pool, 10) == ["a0", "b0", "a1", "b1", "b2"]
    assert await rung(pool, 10) == []
    await end(pool, "a1", "b0")
    assert await rung(pool, 10) == ["a2"]


async def test_no_more_runs_of_a_model_play_at_once_than_the_settings_allow(pool: Pool) -> None:
    runs = [new_run(f"a{n}", model=MODELS["big" if n < 8 else "small"]) for n in range(12)]
    await submit(pool, NewBatch(runs, "Physics", concurrency=6))
    await batch(pool, "b", 5, model=MODELS["big"])
    first = await rung(pool, 10, big=3)
    assert first == ["a0", "b0", "a1"]
    assert await rung(pool, 10, big=3) == ["a8", "a9", "a10", "a11"], (
        "what is left of the batch's six, of the model that may"
    )
    assert await rung(pool, 10, big=3) == []
    await end(pool, "a0")
    assert await rung(pool, 10, big=3) == ["b1"]


async def test_a_doorbell_that_is_out_counts_as_a_run_however_old_it_is(pool: Pool) -> None:
    await batch(pool, "a", 10, concurrency=2)
    await batch(pool, "b", 10, model=MODELS["big"])
    found = await look(pool, 6, big=2)
    assert [run.topic for run in found.runs_to_dispatch] == ["a0", "b0", "a1", "b1"]
    assert found.outstanding == 4
    assert await look(pool, 6, big=2) == Dispatch([], 4)
    await do(
        pool, "update runs set dispatched_at = now() - interval '1 hour' where dispatched_at is not null"
    )
    again = await look(pool, 6, big=2)
    assert sorted(run.topic for run in again.runs_to_dispatch) == ["a0", "a1", "b0", "b1"]
    assert again.outstanding == 4


async def test_doorbells_are_no_more_than_the_room_whoever_rang_them(pool: Pool) -> None:
    await batch(pool, "a", 500)
    assert (await look(pool, 3)).outstanding == 3
    assert await look(pool, 2) == Dispatch([], 3)
    assert [run.topic for run in (await look(pool, 5)).runs_to_dispatch] == ["a3", "a4"]
    assert len((await look(pool, 500)).runs_to_dispatch) == DISPATCH_MAX


async def test_a_doorbell_that_nobody_answers_is_rung_again_before_any_other(pool: Pool) -> None:
    ids = await batch(pool, "a", 4)
    await look(pool, 2)
    await do(pool, "update runs set dispatched_at = now() - interval '11 seconds' where id = %s", ids[1])
    await batch(pool, "b", 4, priority=9)
    assert [run.topic for run in (await look(pool, 2)).runs_to_dispatch] == ["a1"]
    assert [run.topic for run in (await look(pool, 3)).runs_to_dispatch] == ["b0"]


async def test_what_was_not_rung_is_not_claimed(pool: Pool) -> None:
    (run_id,) = await batch(pool, "a", 1)
    assert await acquire(pool, run_id, worker="w", lease_for=LEASE) is None
    await look(pool, 1)
    assert await acquire(pool, run_id, worker="w", lease_for=LEASE) is not None
    # Handed back, while a second doorbell of it is still under way.
    await do(pool, "update runs set state = 'queued', dispatched_at = null")
    assert await acquire(pool, run_id, worker="w", lease_for=LEASE) is None


async def test_doorbells_that_could_not_be_rung_are_decided_anew(pool: Pool) -> None:
    await batch(pool, "a", 3)
    found = await look(pool, 2)
    await acquire(pool, found.runs_to_dispatch[0].id, worker="w", lease_for=LEASE)
    await undo_dispatch(pool, found.runs_to_dispatch)
    await batch(pool, "b", 1, priority=1)
    assert await rung(pool, 2) == ["b0", "a1"]


async def test_what_is_ready_later_starts_when_it_is_due(pool: Pool) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    await submit(pool, NewBatch([new_run("a0", priority=5, ready_at=later), new_run("a1")], "Physics"))
    await batch(pool, "b", 1, ready_at=later)
    assert await rung(pool, 5) == ["a1"]
    await do(pool, "update runs set ready_at = ready_at - interval '1 hour'")
    await do(pool, "update batches set ready_at = ready_at - interval '1 hour'")
    assert await rung(pool, 5) == ["a0", "b0"]


async def test_what_is_paused_is_passed_over(pool: Pool) -> None:
    ids = await batch(pool, "a", 3)
    await pause(pool, ids[0])
    assert await rung(pool, 5) == ["a1", "a2"]


async def test_a_run_whose_row_somebody_holds_is_passed_over_and_nobody_waits(pool: Pool) -> None:
    ids = await batch(pool, "a", 3)
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("select 1 from runs where id = %s for update", (ids[0],))
        assert await asyncio.wait_for(rung(pool, 2), 60) == ["a1"]
    assert await rung(pool, 2) == ["a0", "a2"]


async def test_looks_at_once_pass_no_limit_and_ring_for_no_run_twice(pool: Pool) -> None:
    for name in "abc":
        await batch(pool, name, 40, concurrency=7, model=MODELS["big" if name < "c" else "small"])
    looks = [
        await_all
        for _ in range(5)
        for await_all in await asyncio.gather(*(look(pool, 200, big=11) for _ in range(5)))
    ]
    topics = [run.topic for found in looks for run in found.runs_to_dispatch]
    assert len(topics) == len(set(topics)) == 11 + 7
    assert Counter(topic[0] for topic in topics)["c"] == 7


async def look_blocks(pool: Pool, room: int) -> int:
    """How many blocks of tables and indexes a look reads; it dispatches nothing."""
    args = {"redispatch_after": AGAIN, "models": [], "limits": [], "limit": room, "resting": []}
    blocks = 0
    await do(pool, "vacuum analyze runs, batches")  # or the plan would depend on when Postgres last did
    async with pool.connection() as connection, connection.transaction(force_rollback=True):
        for query in ("outstanding", "dispatch_again", "dispatch_next"):
            explain = SQL("explain (analyze, buffers, format json) {}").format(SQL_OF_DISPATCH[query])
            [row] = await (await connection.execute(explain, args)).fetchall()
            plan = row["QUERY PLAN"][0]["Plan"]
            blocks += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return blocks


@pytest.mark.parametrize("when", ["now", "tomorrow"])
async def test_a_look_reads_no_more_with_50_000_runs_than_with_50(pool: Pool, when: str) -> None:
    await batch(pool, "few", 50, priority=1)
    alone = await look_blocks(pool, 10)
    at = None if when == "now" else datetime.now(UTC) + timedelta(days=1)
    await batch(pool, "many", 50_000, ready_at=at)
    assert await look_blocks(pool, 10) < 3 * alone + 100


async def test_a_look_reads_waiting_and_dispatched_runs_by_their_indexes(pool: Pool) -> None:
    await batch(pool, "a", 5_000)
    await look(pool, 20)
    await do(pool, "analyze runs")
    args = {"redispatch_after": AGAIN, "models": [], "limits": [], "limit": 10, "resting": []}
    assert await indexes_of_runs(pool, "outstanding", args) == {"runs_dispatched"}
    assert await indexes_of_runs(pool, "dispatch_again", args) >= {"runs_dispatched"}
    assert await indexes_of_runs(pool, "dispatch_next", args) >= {"runs_dispatched", "runs_undispatched"}


async def indexes_of_runs(pool: Pool, query: str, args: dict[str, object]) -> set[str]:
    """The indexes that the plan of a query uses; it scans all of `runs` nowhere."""
    async with pool.connection() as connection:
        plan = await connection.execute(SQL("explain {}").format(SQL_OF_DISPATCH[query]), args)
        text = "\n".join(row["QUERY PLAN"] for row in await plan.fetchall())
    assert "Seq Scan on runs" not in text
    return set(re.findall(r"(runs_\w+)", text))
