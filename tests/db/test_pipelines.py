"""Statements that go out together."""

import asyncio

import psycopg
import pytest
from psycopg.sql import SQL

from chiron_workers.db.connect import Pool
from chiron_workers.db.pipelines import Statement, send

BEGIN, COMMIT, ROLLBACK = (Statement(SQL(word)) for word in ("begin", "commit", "rollback"))
PLACE = SQL("select %(place)s::int as place")
LONG = SQL("select repeat(%(text)s::text, 100) as text")
CHARS = 100_000  # more than a socket holds


def place(number: int) -> Statement:
    return Statement(PLACE, {"place": number})


async def test_each_statement_has_its_rows_whether_it_is_prepared_or_not(pool: Pool) -> None:
    async with pool.connection() as connection:
        for first in range(0, 36, 12):  # the sixth of its kind is prepared
            results = await send(connection, [place(first + n) for n in range(12)])
            assert [rows[0]["place"] for rows in results] == list(range(first, first + 12))


async def test_arguments_and_results_may_be_larger_than_what_a_socket_holds(pool: Pool) -> None:
    statements = [Statement(LONG, {"text": letter * CHARS}) for letter in "abcd"]
    async with pool.connection() as connection:
        results = await send(connection, statements)
    assert [rows[0]["text"][-1] for rows in results] == list("abcd")
    assert {len(rows[0]["text"]) for rows in results} == {100 * CHARS}


async def test_what_follows_a_statement_that_fails_is_not_run_and_the_connection_goes_on(pool: Pool) -> None:
    async with pool.connection() as connection:
        written = Statement(SQL("create table unwanted ()"))
        with pytest.raises(psycopg.errors.DivisionByZero):
            await send(connection, [BEGIN, Statement(SQL("select 1 / 0")), written, COMMIT])
        await send(connection, [ROLLBACK, place(1)])
        [row], _ = await send(
            connection, [Statement(SQL("select to_regclass('unwanted') as found")), place(2)]
        )
    assert row["found"] is None


@pytest.mark.parametrize("text", ["", "x" * 3 * CHARS], ids=["small", "large"])
@pytest.mark.parametrize("failing", [0, 2, 4])
async def test_the_error_is_that_of_the_statement_that_failed_and_nothing_is_written(
    pool: Pool, text: str, failing: int
) -> None:
    statements = [Statement(SQL("insert into texts values (%(text)s)"), {"text": text}, prepare=True)] * 4
    statements.insert(failing, Statement(SQL("select 1 / %(zero)s"), {"zero": 0}, prepare=True))
    async with pool.connection() as connection:
        await connection.execute("create table texts (text text)")
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                await send(connection, statements)
        assert await (await connection.execute("select from texts")).fetchall() == []


async def test_a_statement_that_was_to_be_prepared_behind_one_that_fails_goes_on_working(pool: Pool) -> None:
    failing = Statement(SQL("select 1 / 0"))
    async with pool.connection() as connection:
        # At the first rollback alone psycopg forgets what is prepared.
        await send(connection, [BEGIN, ROLLBACK])
        for _ in range(5):
            await send(connection, [place(1), COMMIT])
        with pytest.raises(psycopg.errors.DivisionByZero):
            await send(connection, [BEGIN, failing, place(2), COMMIT])
        await send(connection, [ROLLBACK])
        for _ in range(10):
            assert (await send(connection, [BEGIN, place(3), COMMIT]))[1] == [{"place": 3}]


async def test_what_a_cursor_prepares_after_a_rollback_goes_on_working(pool: Pool) -> None:
    async with pool.connection() as connection:
        await send(connection, [place(1), Statement(PLACE, {"place": 2}, prepare=True)])
        await send(connection, [BEGIN, ROLLBACK])
        for number in range(3):
            cursor = await connection.execute(PLACE, {"place": number}, prepare=True)
            assert await cursor.fetchall() == [{"place": number}]
        with pytest.raises(psycopg.errors.DivisionByZero):
            await send(connection, [BEGIN, Statement(SQL("select 1 / 0"))])
        with pytest.raises(psycopg.errors.DivisionByZero):
            await send(connection, [ROLLBACK, Statement(SQL("select 1 / 0"))])
        for number in range(3):
            cursor = await connection.execute(PLACE, {"place": number}, prepare=True)
            assert await cursor.fetchall() == [{"place": number}]


async def test_a_value_without_a_form_in_python_leaves_a_connection_that_works(pool: Pool) -> None:
    endless = Statement(SQL("select 'infinity'::timestamptz"))
    prepared = Statement(SQL("select %(place)s::int / %(place)s::int as place"), {"place": 0}, prepare=True)
    async with pool.connection() as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            await send(connection, [endless, prepared])
        with pytest.raises(psycopg.DataError):
            await send(connection, [endless, place(1), place(2)])
        assert await send(connection, [place(3), place(4)]) == [[{"place": 3}], [{"place": 4}]]


async def test_a_value_that_cannot_be_sent_leaves_a_connection_that_works(pool: Pool) -> None:
    async with pool.connection() as connection:
        with pytest.raises(psycopg.ProgrammingError):
            await send(connection, [place(1), Statement(PLACE, {"place": object()}), place(2)])
        assert await send(connection, [place(3), place(4)]) == [[{"place": 3}], [{"place": 4}]]


async def test_the_next_gets_a_connection_that_works_where_somebody_who_waits_is_cancelled(
    pool: Pool,
) -> None:
    async def wait() -> None:
        async with pool.connection() as connection:
            is_sent.set()
            await send(connection, [Statement(SQL("select pg_sleep(60)")), place(1)])

    is_sent = asyncio.Event()
    waiting = asyncio.create_task(wait())
    await is_sent.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with pool.connection() as connection:
        assert await send(connection, [place(3), place(4)]) == [[{"place": 3}], [{"place": 4}]]
