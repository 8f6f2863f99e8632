import hashlib
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from chiron_workers.access.keys import NewKey, all_keys, create_key, find_key, revoke_key, use_key
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import sql
from chiron_workers.errors import Conflict, NotFound, RateExceeded, Unauthenticated, UsageError
from chiron_workers.states import AccessScope, BudgetPeriod


async def test_a_key_is_random_begins_recognisably_and_is_stored_as_its_hash_alone(pool: Pool):
    secret, key = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    other, _ = await create_key(pool, NewKey("bob", AccessScope.SUBMIT))
    assert secret.startswith("chiron_")
    assert len(secret) >= 40
    assert secret != other
    [row] = await fetch_all(pool, sql.SQL("select * from access_keys where name = 'alice'"))
    assert bytes(row["hash"]) == hashlib.sha256(secret.encode()).digest()
    assert secret not in repr(row)
    assert key.principal == Principal("alice", AccessScope.SUBMIT, "alice", key.id)


async def test_a_key_is_found_by_its_secret_until_it_is_revoked(pool: Pool):
    secret, key = await create_key(pool, NewKey("alice", AccessScope.READ, owner="team"))
    assert await find_key(pool, secret) == key
    assert key.owner == "team"
    await revoke_key(pool, "alice")
    with pytest.raises(Unauthenticated, match="'alice' was revoked"):
        await find_key(pool, secret)
    with pytest.raises(NotFound, match="no key 'alice' in use"):
        await revoke_key(pool, "alice")


@pytest.mark.parametrize(
    "secret", ["", "chiron_", "chiron_" + "x" * 43, "sk-ant-1", "chiron_" + "x" * 10_000]
)
async def test_what_is_no_key_is_refused(pool: Pool, secret: str):
    with pytest.raises(Unauthenticated, match="does not know that key"):
        await find_key(pool, secret)


async def test_an_expired_key_is_refused_and_its_name_is_free_again(pool: Pool):
    new = NewKey("alice", AccessScope.READ, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    secret, _ = await create_key(pool, new)
    with pytest.raises(Unauthenticated, match="'alice' has expired"):
        await find_key(pool, secret)
    await create_key(pool, NewKey("alice", AccessScope.READ))
    assert [key.name for key in await all_keys(pool)] == ["alice"]
    assert len(await all_keys(pool, with_revoked=True)) == 2


async def test_a_name_in_use_is_not_given_twice(pool: Pool):
    await create_key(pool, NewKey("alice", AccessScope.READ))
    with pytest.raises(Conflict, match="There is a key 'alice'"):
        await create_key(pool, NewKey("alice", AccessScope.ADMIN))
    await revoke_key(pool, "alice")
    await create_key(pool, NewKey("alice", AccessScope.ADMIN))


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (NewKey("", AccessScope.READ), "no name"),
        (NewKey("a b", AccessScope.READ), "no name"),
        (NewKey("x" * 65, AccessScope.READ), "no name"),
        (NewKey("a\0", AccessScope.READ), "no name"),
        (NewKey("alice", AccessScope.READ, owner="a/b"), "no name"),
        (NewKey("local", AccessScope.READ), "not called `local`"),
        (NewKey("alice", AccessScope.READ, budget_usd=Decimal(0)), "above 0"),
        (NewKey("alice", AccessScope.READ, requests_per_minute=0), "between 1"),
    ],
)
async def test_what_cannot_be_a_key_is_refused_in_a_sentence(pool: Pool, new: NewKey, words: str):
    with pytest.raises(UsageError, match=words):
        await create_key(pool, new)


async def test_a_rate_counts_across_processes_and_says_when_it_has_room_again(pool: Pool):
    _, key = await create_key(pool, NewKey("alice", AccessScope.READ, requests_per_minute=2))
    await use_key(pool, key)
    await use_key(pool, key)
    with pytest.raises(RateExceeded, match="2 requests a minute") as refusal:
        await use_key(pool, key)
    assert 1 <= refusal.value.retry_after_s <= 60
    await fetch_all(
        pool,
        sql.SQL("update access_keys set window_began_at = now() - interval '61 seconds' returning id"),
    )
    await use_key(pool, key)
    [stored] = await all_keys(pool)
    assert stored.last_used_at is not None


async def test_a_budget_has_a_period_and_without_one_there_is_none(pool: Pool):
    _, with_budget = await create_key(
        pool,
        NewKey("a", AccessScope.SUBMIT, budget_usd=Decimal(5), budget_period=BudgetPeriod.DAY),
    )
    _, without = await create_key(pool, NewKey("b", AccessScope.SUBMIT))
    assert (with_budget.budget_usd, with_budget.budget_period) == (Decimal(5), BudgetPeriod.DAY)
    assert (without.budget_usd, without.budget_period) == (None, None)


def test_a_scope_includes_the_ones_before_it():
    assert LOCAL.scopes == set(AccessScope)
    assert Principal("a", AccessScope.SUBMIT).scopes == {AccessScope.READ, AccessScope.SUBMIT}
    assert Principal("a", AccessScope.READ).scopes == {AccessScope.READ}
    assert LOCAL.visible_owner is None
    assert Principal("a", AccessScope.SUBMIT).visible_owner == "a"
