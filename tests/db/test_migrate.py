from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from chiron_workers.db.migrate import migrate, migrations, pending
from chiron_workers.errors import ChironError, ServiceUnavailable


def test_of_several_that_start_at_once_one_migrates_and_the_others_find_nothing_to_do(
    empty_url: str,
) -> None:
    everything = [migration.name for migration in migrations()]
    assert pending(empty_url) == everything
    with ThreadPoolExecutor(4) as threads:
        applied = list(threads.map(migrate, [empty_url] * 4))
    assert sorted(applied) == [[], [], [], everything]
    assert pending(empty_url) == []
    assert migrate(empty_url) == []


def test_a_database_newer_than_the_program_is_left_alone(empty_url: str) -> None:
    migrate(empty_url)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(
            "insert into schema_migrations (version, name) values (9999, '9999_from_the_future')"
        )
    with pytest.raises(ChironError, match="9999, newer than this program"):
        migrate(empty_url)


def test_a_migration_that_fails_leaves_those_before_it_applied_and_the_next_call_goes_on_there(
    empty_url: str,
) -> None:
    names = [migration.name for migration in migrations()]
    failing = next(name for name in names if name.startswith("0013"))
    before = names[: names.index(failing)]
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("create table vector_indexes (somebody_elses text)")
        with pytest.raises(ChironError) as raised:
            migrate(empty_url)
        assert str(raised.value) == (
            f'Migration {failing} fails: relation "vector_indexes" already exists. Put that right, and run '
            "`chiron migrate` again: what was applied before it stays."
        )
        recorded = connection.execute("select name from schema_migrations order by version").fetchall()
        assert [name for (name,) in recorded] == before
        assert pending(empty_url) == names[len(before) :]
        query = "select count(*) from pg_attribute where attrelid = 'facts'::regclass and attname = 'tsv'"
        assert connection.execute(query).fetchone() == (0,)  # nothing of the one that failed is left
        connection.execute("drop table vector_indexes")
        assert migrate(empty_url) == names[len(before) :]
    assert pending(empty_url) == []


def test_a_migration_that_waits_for_long_gives_up_and_says_which_it_is(
    released_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.db.migrate.TRIES", 1)
    with psycopg.connect(released_url) as reader:
        # A long transaction: nothing may alter the table meanwhile.
        reader.execute("select from facts limit 1")
        with pytest.raises(ChironError, match="Migration 0011_evidence waits for something"):
            migrate(released_url)
    assert pending(released_url)[0] == "0011_evidence"
    migrate(released_url)
    assert pending(released_url) == []


def test_a_migration_whose_connection_is_cut_says_so_and_the_next_call_goes_on(released_url: str) -> None:
    others = (
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    with psycopg.connect(released_url) as reader, ThreadPoolExecutor(1) as thread:
        reader.execute("select from facts limit 1")
        upgrade = thread.submit(migrate, released_url)
        while pending(released_url)[0] != "0011_evidence":
            assert not upgrade.done()
        while not upgrade.done():
            reader.execute(others)
        with pytest.raises(ServiceUnavailable, match="lost in migration 0011_evidence"):
            upgrade.result()
    migrate(released_url)
    assert pending(released_url) == []
