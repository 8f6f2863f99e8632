import pytest
from psycopg import sql

from chiron_workers.db.connect import connect, open_pool

VALUES = (1, -1, 2**15 - 1, 2**15, 70_000, 2**31 - 1, -(2**31))


async def test_a_statement_is_prepared_once_for_small_and_large_integers(database_url: str) -> None:
    query = sql.SQL("select %(value)s as value, 'stable' as mark")
    async with open_pool(database_url, size=1) as pool, pool.connection() as connection:
        for value in VALUES * 2:
            rows = await (await connection.execute(query, {"value": value}, prepare=True)).fetchall()
            assert rows == [{"value": value, "mark": "stable"}]
        prepared = "select parameter_types::text as types from pg_prepared_statements where statement like '%%''stable''%%'"
        rows = await (await connection.execute(sql.SQL(prepared), None)).fetchall()
    assert [row["types"] for row in rows] == ["{integer}"]


@pytest.mark.parametrize("value", [*VALUES, 2**31, 2**63, -(2**63), 10**30])
def test_an_integer_arrives_as_it_is(database_url: str, value: int) -> None:
    with connect(database_url) as connection:
        row = connection.execute("select %s as value, %s::text as text", [value, value]).fetchone()
    assert row == {"value": value, "text": str(value)}


@pytest.mark.parametrize("values", [(3, 40_000), (40_000, 3), (3, 2**31), (2**15, 2**40)])
def test_lists_of_small_and_of_large_integers_arrive_in_one_statement(
    database_url: str, values: tuple[int, int]
) -> None:
    with connect(database_url) as connection:
        row = connection.execute(
            "select %s::bigint[] as first, %s::bigint[] as second", [[value] for value in values]
        ).fetchone()
    assert row == {"first": [values[0]], "second": [values[1]]}
