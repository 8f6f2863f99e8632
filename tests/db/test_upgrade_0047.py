"""The ledger begins with what is open and what was spent; processes of the version before go on writing it."""

from decimal import Decimal
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from chiron_workers.access.allotments import committed_usd
from chiron_workers.db import migrate
from chiron_workers.db.connect import open_pool
from chiron_workers.ids import new_id

ALICE = new_id()
BEFORE = """
insert into subjects (id, title) values ('moon', 'The moon');
insert into access_keys (id, name, owner, scope, hash, budget_usd, budget_period)
values (%(key)s, 'alice', 'alice', 'submit', 'h', 20, 'total');
insert into access_key_spending (key_id, day, usd) values (%(key)s, '2026-01-01', 1);
insert into batches (id, name, subject_id, run_count, open_runs, request_hash, owner, key_id, budget_usd, spent_usd, finished_at)
values (gen_random_uuid(), 'ended', 'moon', 1, 0, '', 'alice', %(key)s, 5, 2, now()),
       (gen_random_uuid(), 'open', 'moon', 1, 1, '', 'alice', %(key)s, 4, 1, null),
       (gen_random_uuid(), 'of nobody', 'moon', 1, 1, '', 'local', null, 9, 1, null);
"""


@pytest.fixture
def connection(empty_url: str):
    """To a database of the version before, with rows, that has been brought up to date."""
    with psycopg.connect(empty_url, autocommit=True, row_factory=dict_row) as opened:
        migrate.create_table(opened)
        for migration in migrate.migrations():
            if migration.version < 47:
                with opened.transaction():
                    migrate.apply_within(opened, migration)
                    values = (migration.version, migration.name)
                    opened.execute("insert into schema_migrations (version, name) values (%s, %s)", values)
        for statement in BEFORE.split(";\n"):
            if statement.strip():
                opened.execute(statement, {"key": ALICE} if "%(" in statement else None)
        migrate.migrate(empty_url)
        yield opened


async def committed(url: str) -> Decimal:
    async with open_pool(url, size=1) as pool:
        return (await committed_usd(pool, [ALICE]))[ALICE]


def id_of(connection: psycopg.Connection, name: str) -> UUID:
    return connection.execute("select id from batches where name = %s", (name,)).fetchone()["id"]


async def test_the_ledger_begins_with_what_is_open_and_what_was_spent(
    connection: psycopg.Connection, empty_url: str
):
    rows = connection.execute("select act, owner, amount_usd from allotments order by amount_usd").fetchall()
    assert [(row["act"], row["owner"], row["amount_usd"]) for row in rows] == [
        ("spent", "alice", 1),
        ("spent", "alice", 2),
        ("opening", "alice", 4),
        ("opening", "local", 9),
    ]
    assert await committed(empty_url) == 7


async def test_what_processes_of_the_version_before_do_is_paid_by_the_key_that_submitted(
    connection: psycopg.Connection, empty_url: str
):
    ended, opened = id_of(connection, "ended"), id_of(connection, "open")
    connection.execute("update batches set budget_usd = 6 where id = %s", (opened,))
    assert await committed(empty_url) == 9
    connection.execute("update batches set finished_at = now(), spent_usd = 3 where id = %s", (opened,))
    assert await committed(empty_url) == 6
    connection.execute("update batches set finished_at = null, open_runs = 1 where id = %s", (ended,))
    assert await committed(empty_url) == 9
    connection.execute("delete from batches where id = %s", (ended,))
    assert await committed(empty_url) == 6
