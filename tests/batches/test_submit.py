import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.batches.summaries import batch_state, find, newest, run_summary, runs_of, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.states import Effort, RunState, ThinkingMode

# Of new_batch(1, idempotency_key="k"), as version 0.1.0 stored it.
HASH_OF_0_1 = "d27d1900f6b97e94b5a5b8ab954110faff62265f7e5f02b4d3f4835419b35302"


def new_run(topic: str = "Generators", **values) -> NewRun:
    return NewRun(
        **(
            {"topic": topic, "role": "research", "subject": "Python", "model": "offline", "max_turns": 20}
            | values
        )
    )


def new_batch(count: int = 3, **values) -> NewBatch:
    return NewBatch([new_run(f"topic {n}") for n in range(count)], "Python", **values)


async def rows(pool: Pool, query: str, *args) -> list:
    async with pool.connection() as connection:
        return await (await connection.execute(query, args)).fetchall()


async def test_a_batch_is_stored_with_its_queued_runs_in_the_order_of_the_topics(pool):
    found = await submit(pool, new_batch(3, budget=Budget(Decimal("2.5")), priority=4))
    assert found.is_new
    stored = await rows(pool, "select * from runs order by id")
    assert [row["id"] for row in stored] == found.run_ids
    assert [row["topic"] for row in stored] == ["topic 0", "topic 1", "topic 2"]
    assert {(row["state"], row["seq"], row["subject_id"], row["role"]) for row in stored} == {
        ("queued", 1, "python", "research")
    }
    [batch] = await rows(pool, "select * from batches")
    assert (batch["id"], batch["run_count"], batch["open_runs"]) == (found.batch_id, 3, 3)
    assert (batch["name"], batch["budget_usd"], batch["priority"]) == (
        "topic 0 and 2 more",
        Decimal("2.5"),
        4,
    )


async def test_each_new_run_has_its_first_event(pool):
    found = await submit(pool, new_batch(2))
    events = await rows(pool, "select * from events order by run_id")
    assert [(row["run_id"], row["seq"], row["batch_id"], row["kind"]) for row in events] == [
        (run_id, 1, found.batch_id, "run.queued") for run_id in found.run_ids
    ]
    assert events[0]["data"] == {"role": "research", "topic": "topic 0"}


async def test_a_subject_of_any_name_is_made_once(pool):
    runs = [new_run(), new_run(subject="Größe & Maß"), new_run(subject="größe und maß")]
    await submit(pool, NewBatch(runs, "Python"))
    await submit(pool, NewBatch(runs, "PYTHON"))
    found = await rows(pool, "select id, title from subjects order by id")
    assert [row["id"] for row in found] == ["grosse-mass", "grosse-und-mass", "python"]
    assert found[2]["title"] == "Python"


async def test_a_batch_is_ready_when_the_first_of_its_runs_is(pool):
    early, late = datetime.now(UTC) + timedelta(hours=1), datetime.now(UTC) + timedelta(hours=2)
    past = datetime.now(UTC) - timedelta(days=1)
    times = [(late, early), (late, None), (past, None), (past, past)]
    ids = [
        (await submit(pool, NewBatch([new_run(ready_at=at) for at in each], "Python"))).batch_id
        for each in times
    ]
    stored = {row["id"]: row for row in await rows(pool, "select * from batches")}
    assert stored[ids[0]]["ready_at"] == early
    assert all(stored[batch_id]["ready_at"] <= datetime.now(UTC) for batch_id in ids[1:])
    runs = await rows(
        pool, "select r.ready_at, b.created_at from runs r join batches b on b.id = batch_id order by r.id"
    )
    created = [row["created_at"] for row in runs]
    assert [row["ready_at"] for row in runs] == [late, early, late, created[3], *created[4:]]


async def test_a_key_from_before_these_fields_came_still_fits_its_request(pool):
    await submit(pool, new_batch(1, idempotency_key="k"))
    [stored] = await rows(pool, "select request_hash from batches")
    assert stored["request_hash"] == HASH_OF_0_1
    for other in (
        new_batch(1, idempotency_key="k", concurrency=3),
        NewBatch([new_run("topic 0", ready_at=datetime.now(UTC))], "Python", idempotency_key="k"),
        NewBatch([new_run("topic 0", thinking=ThinkingMode.AUTO)], "Python", idempotency_key="k"),
        NewBatch([new_run("topic 0", effort=Effort.LOW)], "Python", idempotency_key="k"),
    ):
        with pytest.raises(Conflict):
            await submit(pool, other)


async def test_the_same_key_and_request_give_the_same_batch(pool):
    first = await submit(pool, new_batch(idempotency_key="k", budget=Budget(Decimal("1"))))
    again = await submit(pool, new_batch(idempotency_key="k", budget=Budget(Decimal("1.00"))))
    assert (again.batch_id, again.run_ids, again.is_new) == (first.batch_id, first.run_ids, False)
    assert len(await rows(pool, "select 1 from runs")) == 3


async def test_the_same_key_with_another_request_is_refused_and_writes_nothing(pool):
    await submit(pool, new_batch(3, idempotency_key="k"))
    with pytest.raises(Conflict, match="'k' was used for another request"):
        await submit(pool, NewBatch([new_run(subject="Other")], "Other", idempotency_key="k"))
    assert [row["id"] for row in await rows(pool, "select id from subjects")] == ["python"]


async def test_the_same_request_sent_at_once_makes_one_batch(pool):
    found = await asyncio.gather(*(submit(pool, new_batch(50, idempotency_key="k")) for _ in range(5)))
    assert len({one.batch_id for one in found}) == 1
    assert [one.is_new for one in found].count(True) == 1
    assert all(one.run_ids == found[0].run_ids for one in found)
    assert len(await rows(pool, "select 1 from runs")) == 50


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (NewBatch([], "Python"), "between 1 and"),
        (NewBatch([new_run(), new_run(" ")], "Python"), "Topic 2: The topic is empty"),
        (NewBatch([new_run("x" * 5_000)], "Python"), "5,000 characters; 4,000 are allowed"),
        (NewBatch([new_run("a\0b")], "Python"), "no text"),
        (NewBatch([new_run("a\ud800b")], "Python"), "no text"),
        (NewBatch([new_run(role="poet")], "Python"), "no role 'poet'; the roles are .*research"),
        (NewBatch([new_run(model="")], "Python"), "No model is named"),
        (NewBatch([new_run(max_turns=0)], "Python"), "must be between 1 and"),
        (NewBatch([new_run(priority=2**31)], "Python"), "priority"),
        (NewBatch([new_run()], "Python", name="x" * 201), "name of a batch"),
        (NewBatch([new_run()], "!!!"), "subject cannot be used"),
        (new_batch(idempotency_key=""), "idempotency key"),
        (new_batch(concurrency=0), "at once must be at least 1"),
        (NewBatch([new_run(ready_at=datetime(9999, 1, 1, tzinfo=UTC))], "Python"), "within ten years"),
        (new_batch(budget=Budget(Decimal(0))), "budget must be above 0"),
        (new_batch(budget=Budget(Decimal("0.0000001"))), "budget must be above 0"),
        (new_batch(budget=Budget(Decimal("1e9"))), "budget must be above 0"),
    ],
)
async def test_a_wrong_request_is_refused_with_a_sentence_and_writes_nothing(pool, batch, message):
    with pytest.raises(UsageError, match=message):
        await submit(pool, batch)
    assert await rows(pool, "select 1 from subjects union all select 1 from batches") == []


async def test_a_summary_sums_up_the_runs(pool):
    found = await submit(pool, new_batch(3, budget=Budget(Decimal(9))))
    await rows(
        pool,
        "update runs set state = 'completed', facts = 4, turns = 7, input_tokens = 3e9, output_tokens = 5, "
        "spent_usd = 0.25, started_at = now(), answer = 'It is so.' where id = any(%s) returning 1",
        found.run_ids[:2],
    )
    one = await summary(pool, found.batch_id)
    assert one.runs == {
        "queued": 1, "running": 0, "paused": 0, "completed": 2, "failed": 0, "cancelled": 0
    }  # fmt: skip
    assert (one.state, one.facts, one.turns, one.input_tokens, one.output_tokens) == (
        "running",
        8,
        14,
        6_000_000_000,
        10,
    )
    assert (one.spent_usd, one.budget_usd, one.subject_id) == (Decimal("0.5"), Decimal(9), "python")
    assert one.started_at is not None
    assert one.finished_at is None
    run = await run_summary(pool, found.run_ids[0])
    assert (run.state, run.answer, run.topic, run.batch_id) == (
        "completed",
        "It is so.",
        "topic 0",
        found.batch_id,
    )
    assert [one.id for one in await runs_of(pool, found.batch_id, limit=2)] == found.run_ids[:2]


async def test_batches_are_listed_newest_first_page_by_page(pool):
    ids = [(await submit(pool, new_batch(1))).batch_id for _ in range(3)]
    page = await newest(pool, limit=2)
    assert [one.id for one in page] == [ids[2], ids[1]]
    assert [one.id for one in await newest(pool, limit=2, before=page[-1].id)] == [ids[0]]


async def test_an_id_names_a_batch_or_a_run_or_nothing(pool):
    found = await submit(pool, new_batch(1))
    assert (await find(pool, str(found.batch_id))).id == found.batch_id
    assert (await find(pool, f" {found.run_ids[0]} ")).id == found.run_ids[0]
    with pytest.raises(NotFound, match="No batch and no run"):
        await find(pool, str(new_id()))
    with pytest.raises(UsageError, match="'nonsense' is no id"):
        await find(pool, "nonsense")


@pytest.mark.parametrize(
    ("counts", "state"),
    [
        ({"queued": 3}, RunState.QUEUED),
        ({"queued": 1, "completed": 2}, RunState.RUNNING),
        ({"running": 1, "failed": 2}, RunState.RUNNING),
        ({"paused": 1, "completed": 2, "failed": 1}, RunState.PAUSED),
        ({"completed": 2, "failed": 1, "cancelled": 1}, RunState.FAILED),
        ({"completed": 2, "cancelled": 1}, RunState.CANCELLED),
        ({"completed": 2, "failed": 0}, RunState.COMPLETED),
    ],
)
def test_the_state_of_a_batch_follows_from_its_runs(counts, state):
    assert batch_state(counts) == state
