"""A late reply of a worker that was cut off settles the write-off of its own call, and nothing else."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from support.run_harness import LEASE, Stage

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.billing.reservations import reserve, write_off
from chiron_workers.errors import LeaseLost
from chiron_workers.runs.entries import MaxCost, Opening, Reply, ServiceAnswer, SideQuestion, Usage
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.rescue import rescue

MOST = Decimal("0.5")
COST = Decimal("0.2")
CALLS = (MaxCost(MOST, 1_000, call=7), MaxCost(MOST, 1_000, call=8))
SUMS = """
select r.spent_usd, r.unconfirmed_usd, r.unconfirmed_calls, r.spent_tokens, r.services_usd,
       c.spent_usd as batch_spent_usd, c.unconfirmed_usd as batch_unconfirmed_usd,
       (select sum(usd) from spending) as day_usd
  from runs r
  join batch_costs c on c.batch_id = r.batch_id
 where r.id = %s
"""


@pytest.fixture
def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


def reply(max_cost: MaxCost) -> Reply:
    return Reply(({"type": "text", "text": "yes"},), "end_turn", Usage(100, 10), COST, reserved=max_cost)


async def cut_off(stage: Stage, journal: Journal, *, calls: tuple[MaxCost, ...] = CALLS[:1]) -> Run:
    """A run whose worker had calls in flight when its lease ran out, as that worker sees it; it is free again."""
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await journal.append(run, Opening("claude-opus-5-5", "Look.", (), 100), n=1)
    for max_cost in calls:
        await reserve(stage.pool, run, max_cost, daily_usd=None, lease_for=LEASE)
    await stage.rows("update runs set leased_until = now() - interval '1 minute' returning 1")
    assert await rescue(journal, may_rescue=lambda _: True) == 1
    return run


async def sums(stage: Stage, run_id: UUID) -> dict[str, Any]:
    (row,) = await stage.rows(SUMS, run_id)
    return {name: value for name, value in row.items() if value}


async def settled_calls(stage: Stage) -> dict[int, bool]:
    rows = await stage.rows("select call, settled_at is not null as is_settled from write_offs")
    return {row["call"]: row["is_settled"] for row in rows}


def assert_consistent(stage: Stage) -> None:
    with snapshot(stage.settings.database_url) as connection:
        assert [line for line in among_rows(connection) if "batch is not closed" not in line] == []


async def test_a_late_reply_settles_its_own_write_off_once(stage: Stage, journal: Journal) -> None:
    run = await cut_off(stage, journal)
    assert await sums(stage, run.id) == {
        **dict.fromkeys(("unconfirmed_usd", "batch_unconfirmed_usd", "day_usd"), MOST),
        "unconfirmed_calls": 1,
    }
    await stage.claim(run.id, worker="another")
    for _ in range(2):
        with pytest.raises(LeaseLost):
            await journal.append(run, reply(CALLS[0]), n=2)
        assert await sums(stage, run.id) == {
            **dict.fromkeys(("spent_usd", "batch_spent_usd", "day_usd"), COST),
            "spent_tokens": 110,
        }
    row = await stage.row(run.id)
    assert (row["worker"], row["entries"], row["turns"], row["steps"]) == ("another", 1, 0, 1)
    assert_consistent(stage)


async def test_a_late_reply_settles_no_other_call(stage: Stage, journal: Journal) -> None:
    run = await cut_off(stage, journal, calls=CALLS)
    with pytest.raises(LeaseLost):
        await journal.append(run, reply(CALLS[1]), n=2)
    assert await settled_calls(stage) == {7: False, 8: True}
    row = await stage.row(run.id)
    assert (row["unconfirmed_calls"], row["unconfirmed_usd"], row["spent_usd"]) == (1, MOST, COST)
    with pytest.raises(LeaseLost):
        await journal.append(run, reply(MaxCost(MOST, 1_000, call=9)), n=2)  # that was never written off
    assert (await stage.row(run.id))["spent_usd"] == COST
    assert_consistent(stage)


async def test_a_late_answer_of_a_service_settles_its_write_off(stage: Stage, journal: Journal) -> None:
    run = await cut_off(stage, journal, calls=(MaxCost(MOST, 0, call=7),))
    answer = ServiceAnswer("brave", [], COST, MaxCost(MOST, 0, call=7))
    with pytest.raises(LeaseLost):
        await journal.append_service_answer(run, SideQuestion(1, "toolu_1", "hash", 1), answer)
    after = await sums(stage, run.id)
    assert after == dict.fromkeys(("spent_usd", "services_usd", "batch_spent_usd", "day_usd"), COST)
    assert await stage.rows("select 1 from side_replies") == []
    assert_consistent(stage)


@pytest.mark.parametrize(
    "ending",
    [
        "update runs set state = 'cancelled' where id = %s returning 1",
        "update batches b set finished_at = now() from runs r where r.id = %s and b.id = r.batch_id returning 1",
    ],
    ids=["the run", "the batch"],
)
async def test_what_has_ended_keeps_its_write_offs(stage: Stage, journal: Journal, ending: str) -> None:
    run = await cut_off(stage, journal)
    await stage.rows(ending, run.id)
    before = await sums(stage, run.id)
    with pytest.raises(LeaseLost):
        await journal.append(run, reply(CALLS[0]), n=2)
    assert await sums(stage, run.id) == before
    assert await settled_calls(stage) == {7: False}


async def test_a_call_that_its_worker_writes_off_has_a_row_too(stage: Stage, journal: Journal) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    for max_cost in CALLS:
        await reserve(stage.pool, run, max_cost, daily_usd=None, lease_for=LEASE)
    await write_off(stage.pool, run, CALLS[0])
    assert await settled_calls(stage) == {7: False}
    (row,) = await stage.rows("select token, lease from write_offs")
    assert (row["token"], row["lease"]) == (run.token, run.lease)
    assert_consistent(stage)


async def test_the_check_names_write_offs_that_nobody_counts(stage: Stage, journal: Journal) -> None:
    run = await cut_off(stage, journal)
    with psycopg.connect(stage.settings.database_url) as connection:
        connection.execute("update write_offs set call = 70 where run_id = %s", [run.id])
        connection.execute(
            "insert into write_offs (run_id, token, call, lease) select id, token, 71, 1 from runs"
        )
    with snapshot(stage.settings.database_url) as connection:
        assert any("2 write-offs that nobody has settled" in line for line in among_rows(connection))
