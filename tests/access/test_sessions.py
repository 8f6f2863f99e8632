import asyncio
from datetime import timedelta

import pytest

from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.access.sessions import (
    close_session,
    create_code,
    find_session,
    shared_secret,
    trade_code,
)
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import sql
from chiron_workers.errors import Unauthenticated
from chiron_workers.states import AccessScope


async def test_a_code_is_traded_once_also_by_two_at_the_same_time(pool: Pool):
    code = await create_code(pool)
    outcomes = await asyncio.gather(*(trade_code(pool, code) for _ in range(3)), return_exceptions=True)
    [token] = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert await find_session(pool, token) is None
    with pytest.raises(Unauthenticated, match="was used"):
        await trade_code(pool, code)


async def test_a_code_is_good_for_five_minutes(pool: Pool):
    code = await create_code(pool)
    await _move(pool, "sign_in_codes", "expires_at", timedelta(minutes=5))
    with pytest.raises(Unauthenticated, match="five minutes"):
        await trade_code(pool, code)


async def test_the_database_holds_neither_codes_nor_tokens(pool: Pool):
    code = await create_code(pool)
    token = await trade_code(pool, await create_code(pool))
    rows = await fetch_all(
        pool, sql.SQL("select hash from sign_in_codes union all select hash from access_sessions")
    )
    text = repr([bytes(row["hash"]) for row in rows])
    assert code not in text
    assert token not in text


async def test_a_session_ends_after_twelve_idle_hours_and_each_use_begins_them_anew(pool: Pool):
    token = await trade_code(pool, await create_code(pool))
    for _ in range(2):
        await _move(pool, "access_sessions", "used_at", timedelta(hours=11))
        assert await find_session(pool, token) is None
    await _move(pool, "access_sessions", "used_at", timedelta(hours=12))
    with pytest.raises(Unauthenticated, match="Sign in again"):
        await find_session(pool, token)


async def test_a_closed_session_is_over(pool: Pool):
    token = await trade_code(pool, await create_code(pool))
    await close_session(pool, token)
    with pytest.raises(Unauthenticated):
        await find_session(pool, token)


async def test_a_session_of_a_key_ends_with_the_key(pool: Pool):
    _, key = await create_key(pool, NewKey("alice", AccessScope.READ))
    token = await trade_code(pool, await create_code(pool, key_id=key.id))
    assert await find_session(pool, token) == key
    await revoke_key(pool, "alice")
    with pytest.raises(Unauthenticated):
        await find_session(pool, token)


async def test_all_servers_of_a_database_share_a_secret(pool: Pool):
    secrets = await asyncio.gather(*(shared_secret(pool, "pages") for _ in range(4)))
    assert len(set(secrets)) == 1
    assert len(secrets[0]) == 32


async def _move(pool: Pool, table: str, column: str, age: timedelta) -> None:
    statement = sql.SQL("update {} set {} = {} - %(age)s returning 1").format(
        sql.Identifier(table), sql.Identifier(column), sql.Identifier(column)
    )
    await fetch_all(pool, statement, {"age": age})
