"""What a batch has cost adds up from several rows, so that none of its runs waits for another one's commit."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal

from support.run_harness import LEASE, Stage

from chiron_workers.billing.budgets import Budget
from chiron_workers.billing.reservations import reserve, write_off
from chiron_workers.runs.entries import MaxCost, Reply, Usage
from chiron_workers.runs.fence import SHARDS, shard_of
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.release import Release
from chiron_workers.states import EventKind, RunState

CALL = MaxCost(Decimal("0.40"), 1_000)
END = Release(RunState.COMPLETED, ((EventKind.RUN_COMPLETED, {"answer": "42"}),), answer="42")


def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


async def of_two_shards(stage: Stage) -> tuple[Run, Run]:
    """Two runs of one batch with a budget that add to different rows."""
    ids = await stage.submit(*(f"topic {n}" for n in range(SHARDS + 1)), budget=Budget(Decimal(10)))
    other = next(run_id for run_id in ids if shard_of(run_id) != shard_of(ids[0]))
    return await stage.claim(ids[0]), await stage.claim(other)


async def ask(stage: Stage, run: Run, usd: str) -> None:
    await reserve(stage.pool, run, CALL, daily_usd=None, lease_for=LEASE)
    n = (await stage.row(run.id))["entries"] + 1
    reply = Reply((), "end_turn", Usage(100, 10), Decimal(usd), reserved=CALL)
    await journal(stage).append(run, reply, n=n)


@asynccontextmanager
async def reply_in_commit(stage: Stage, run: Run):
    """What the commit of a reply holds until it is on disk."""
    async with stage.pool.connection() as connection, connection.transaction():
        args = {"run_id": run.id, "batch_id": run.batch_id, "shard": shard_of(run.id)}
        await connection.execute("select 1 from runs where id = %(run_id)s for update", args)
        await connection.execute(
            """insert into spending (day, shard, usd)
               values ((clock_timestamp() at time zone 'utc')::date, %(shard)s, 1)
                   on conflict (day, shard) do update set usd = spending.usd + 1""",
            args,
        )
        await connection.execute(
            "insert into batch_sums (batch_id, shard, spent_usd) values (%(batch_id)s, %(shard)s, 1)", args
        )
        async with asyncio.timeout(30):
            yield


async def test_a_call_is_reserved_and_its_reply_committed_while_that_of_another_run_is_in_commit(
    stage: Stage,
) -> None:
    first, second = await of_two_shards(stage)
    async with reply_in_commit(stage, first):
        await ask(stage, second, "0.05")
        await reserve(stage.pool, second, replace(CALL, call=7), daily_usd=None, lease_for=LEASE)
        await write_off(stage.pool, second, replace(CALL, call=7))
        assert await journal(stage).release(second, END)
    [costs] = await stage.rows("select spent_usd, unconfirmed_usd from batch_costs")
    assert costs == {"spent_usd": Decimal("1.05"), "unconfirmed_usd": CALL.usd}


async def test_the_sums_of_a_batch_move_to_its_own_row_when_it_is_completed(stage: Stage) -> None:
    runs = [await stage.claim(run_id) for run_id in await stage.submit(*(f"topic {n}" for n in range(5)))]
    # What workers of the version before have counted.
    await stage.rows("update batches set spent_usd = 2, spent_tokens = 3 returning 1")
    for run in runs:
        await ask(stage, run, "0.05")
    costs = "select spent_usd, spent_tokens from batch_costs"
    before = await stage.rows(costs)
    assert before == [{"spent_usd": Decimal("2.25"), "spent_tokens": 553}]
    for run in runs:
        assert await journal(stage).release(run, END)
    assert await stage.rows("select spent_usd, spent_tokens from batches") == before
    assert await stage.rows(costs) == before
    assert await stage.rows("select 1 from batch_sums") == []
