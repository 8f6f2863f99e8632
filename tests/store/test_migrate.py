from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import sql

from chiron_workers.errors import ChironError
from chiron_workers.ids import new_id
from chiron_workers.store.migrate import migrate, migrations, pending


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    name = f"e_{new_id().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    yield postgres.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def test_of_several_that_start_at_once_one_migrates_and_the_others_find_nothing_to_do(
    empty_database: str,
) -> None:
    everything = [migration.name for migration in migrations()]
    assert pending(empty_database) == everything
    with ThreadPoolExecutor(4) as threads:
        applied = list(threads.map(migrate, [empty_database] * 4))
    assert sorted(applied) == [[], [], [], everything]
    assert pending(empty_database) == []
    assert migrate(empty_database) == []


def test_a_database_newer_than_the_program_is_left_alone(empty_database: str) -> None:
    migrate(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(
            "insert into schema_migrations (version, name) values (9999, '9999_from_the_future')"
        )
    with pytest.raises(ChironError, match="9999, newer than this program"):
        migrate(empty_database)
