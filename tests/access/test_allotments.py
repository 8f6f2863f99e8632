"""What batches of a key may cost together."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

import pytest

from chiron_workers.access.allotments import committed_usd
from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.access.principals import Principal
from chiron_workers.batches.delete import delete
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.submit import NewBatch, NewRun, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import sql
from chiron_workers.errors import KeyBudgetSpent
from chiron_workers.runs.leases import say
from chiron_workers.states import AccessScope, BudgetPeriod


async def make_key(pool: Pool, usd: str, period: BudgetPeriod = BudgetPeriod.TOTAL) -> Principal:
    new = NewKey("alice", AccessScope.SUBMIT, budget_usd=Decimal(usd), budget_period=period)
    return (await create_key(pool, new))[1].principal


async def send(
    pool: Pool, principal: Principal, usd: str | None = None, *, idempotency_key: str | None = None
) -> Submitted:
    run = NewRun("Tides", "research", "Physics", "claude-opus-4-5", 20)
    budget = Budget(None if usd is None else Decimal(usd))
    batch = NewBatch([run], "Physics", budget=budget, idempotency_key=idempotency_key)
    return await submit(pool, batch, principal=principal)


async def finish(pool: Pool, batch: Submitted, usd: str, *, days_ago: int = 0) -> None:
    """End a batch as workers do, after it has cost this much."""
    await fetch_all(
        pool,
        sql.SQL(
            "with r as (update runs set state = 'completed', finished_at = now() where batch_id = %(id)s) "
            "update batches set open_runs = 0, spent_usd = %(usd)s, finished_at = now() - make_interval(days => %(days)s) "
            "where id = %(id)s returning id"
        ),
        {"id": batch.batch_id, "usd": Decimal(usd), "days": days_ago},
    )


async def budget_of(pool: Pool, batch_id: UUID) -> Decimal:
    [row] = await fetch_all(
        pool, sql.SQL("select budget_usd from batches where id = %(id)s"), {"id": batch_id}
    )
    return row["budget_usd"]


async def test_a_batch_takes_its_budget_from_its_key_and_by_default_all_that_is_left(pool: Pool):
    alice = await make_key(pool, "10")
    await send(pool, alice, "4")
    rest = await send(pool, alice)
    assert await budget_of(pool, rest.batch_id) == Decimal(6)
    with pytest.raises(KeyBudgetSpent, match="may spend 10 USD in all and has 0 USD left"):
        await send(pool, alice)


async def test_a_batch_that_asks_for_more_than_is_left_is_refused_with_what_is_left(pool: Pool):
    alice = await make_key(pool, "10")
    await send(pool, alice, "4")
    with pytest.raises(KeyBudgetSpent, match="has 6 USD left; this asks for 7 USD"):
        await send(pool, alice, "7")
    assert len(await fetch_all(pool, sql.SQL("select id from batches"))) == 1


async def test_batches_sent_at_once_reserve_no_dollar_twice(pool: Pool):
    alice = await make_key(pool, "10")
    outcomes = await asyncio.gather(*(send(pool, alice, "4") for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(outcome, Submitted) for outcome in outcomes) == 2
    assert sum(isinstance(outcome, KeyBudgetSpent) for outcome in outcomes) == 2


async def test_what_a_finished_batch_has_not_spent_is_free_again_also_after_it_is_deleted(pool: Pool):
    alice = await make_key(pool, "10")
    first = await send(pool, alice, "10")
    await finish(pool, first, "3")
    assert await budget_of(pool, (await send(pool, alice)).batch_id) == Decimal(7)
    await delete(pool, first.batch_id)
    with pytest.raises(KeyBudgetSpent):
        await send(pool, alice, "0.01")


@pytest.mark.parametrize("reopen", ["retry", "say", "raise"])
async def test_a_batch_goes_on_only_where_the_key_has_its_whole_budget_left(pool: Pool, reopen: str):
    alice = await make_key(pool, "10")
    first = await send(pool, alice, "9")
    if reopen == "raise":
        await pause(pool, first.batch_id)
    else:
        await finish(pool, first, "1")
        await send(pool, alice, "8")
    with pytest.raises(KeyBudgetSpent, match=r"has 1 USD left; this asks for (8|2) USD"):
        match reopen:
            case "retry":
                await retry(pool, first.batch_id, from_scratch=True, principal=alice)
            case "say":
                await say(pool, first.run_ids[0], "And the other side?", principal=alice)
            case "raise":
                await resume(pool, first.batch_id, budget=Budget(Decimal(11)), principal=alice)
    [row] = await fetch_all(
        pool,
        sql.SQL(
            "select r.state, b.budget_usd from runs r join batches b on b.id = r.batch_id where b.id = %(id)s"
        ),
        {"id": first.batch_id},
    )
    assert row == {"state": "paused" if reopen == "raise" else "completed", "budget_usd": Decimal(9)}


async def test_a_cancelled_batch_gives_back_what_it_did_not_spend(pool: Pool):
    alice = await make_key(pool, "10")
    await cancel(pool, (await send(pool, alice)).batch_id)
    assert await budget_of(pool, (await send(pool, alice)).batch_id) == Decimal(10)


async def test_a_budget_a_day_is_whole_again_the_next_day_but_for_what_is_still_open(pool: Pool):
    alice = await make_key(pool, "10", BudgetPeriod.DAY)
    await finish(pool, await send(pool, alice, "5"), "5", days_ago=1)
    await finish(pool, await send(pool, alice, "2"), "1.5")
    assert await budget_of(pool, (await send(pool, alice)).batch_id) == Decimal("8.5")


async def test_the_same_request_again_is_the_same_batch_however_little_is_left(pool: Pool):
    alice = await make_key(pool, "10")
    first = await send(pool, alice, idempotency_key="k")
    again = await send(pool, alice, idempotency_key="k")
    assert (again.batch_id, again.is_new) == (first.batch_id, False)


async def test_a_key_that_was_revoked_starts_nothing_more(pool: Pool):
    alice = await make_key(pool, "10")
    await revoke_key(pool, "alice")
    with pytest.raises(KeyBudgetSpent, match="was revoked"):
        await send(pool, alice, "1")


async def test_a_key_without_a_budget_is_bound_by_none(pool: Pool):
    _, key = await create_key(pool, NewKey("bob", AccessScope.SUBMIT))
    batch = await send(pool, key.principal)
    assert await budget_of(pool, batch.batch_id) is None


async def test_what_many_keys_have_committed_is_read_at_once_each_in_its_own_period(pool: Pool):
    alice = await make_key(pool, "10", BudgetPeriod.DAY)
    new = NewKey("bob", AccessScope.SUBMIT, budget_usd=Decimal(20), budget_period=BudgetPeriod.TOTAL)
    bob = (await create_key(pool, new))[1].principal
    idle = (await create_key(pool, replace(new, name="eve")))[1].principal
    await finish(pool, await send(pool, alice, "5"), "5", days_ago=1)
    await send(pool, alice, "2")
    await finish(pool, await send(pool, bob, "5"), "4", days_ago=1)
    await send(pool, bob, "3")
    ids = [principal.key_id for principal in (alice, bob, idle) if principal.key_id]
    assert await committed_usd(pool, ids) == dict(zip(ids, (2, 7, 0), strict=True))


async def test_whoever_raises_the_budgets_of_runs_pays_unless_their_batch_has_one(pool: Pool):
    alice = await make_key(pool, "1")
    own = Budget(Decimal("0.50"))
    runs = [
        NewRun(topic, "research", "Physics", "claude-opus-4-5", 20, budget=own)
        for topic in ("Tides", "Waves")
    ]
    unbound = await submit(pool, NewBatch(runs, "Physics"))
    with pytest.raises(KeyBudgetSpent, match=r"has 1 USD left; this asks for 1\.5 USD"):
        await resume(pool, unbound.batch_id, run_budget=Budget(Decimal("1.25")), principal=alice)
    await resume(pool, unbound.batch_id, run_budget=Budget(Decimal("0.75")), principal=alice)
    assert await committed_usd(pool, [alice.key_id]) == {alice.key_id: Decimal("0.50")}
    bound = await submit(pool, NewBatch(runs, "Physics", budget=Budget(Decimal(2))))
    await resume(pool, bound.batch_id, run_budget=Budget(Decimal(2)), principal=alice)
    assert await committed_usd(pool, [alice.key_id]) == {alice.key_id: Decimal("0.50")}
    await cancel(pool, unbound.batch_id)
    assert await committed_usd(pool, [alice.key_id]) == {alice.key_id: 0}
