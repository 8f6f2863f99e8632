"""What runs before 0071 stored and confirmed is recorded, and what a worker of the version before stores beside."""

from collections.abc import Iterator

import psycopg
import pytest
from db.test_upgrade_0067 import bring_to
from psycopg.rows import dict_row

from chiron_workers.db import migrate

BEFORE = """
insert into subjects (id, title) values ('lake', 'Lake');
insert into batches (id, name, subject_id, run_count, open_runs, request_hash) values (gen_random_uuid(), 'b', 'lake', 2, 0, '');
insert into runs (id, subject_id, batch_id, topic, role, model, state, max_turns, lease)
select gen_random_uuid(), 'lake', id, topic, 'research', 'm', 'completed', 9, 1
  from batches, unnest(array['first', 'second']) as topic;
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, quote_state, run_id)
select gen_random_uuid(), 'lake', 'old', 'https://a.org/', 0.9, 'a', 0.8, 'accepted', 'unverified', id
  from runs
 where topic = 'first';
insert into corroborations (id, fact_id, content, source_url, source_score, claimed_confidence, quote_state, run_id)
select gen_random_uuid(), f.id, 'old', url || r.topic, 0.9, 0.8, 'unverified', r.id
  from facts f, runs r, unnest(array['https://b.org/', 'https://c.org/']) as url;
"""
LATER = """
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, quote_state, run_id)
select gen_random_uuid(), 'lake', 'new', 'https://a.org/', 0.9, 'a', 0.8, 'accepted', 'unverified', id
  from runs
 where topic = 'second';
insert into corroborations (id, fact_id, content, source_url, source_score, claimed_confidence, quote_state, run_id)
select gen_random_uuid(), f.id, 'new', 'https://b.org/' || r.topic, 0.9, 0.8, 'unverified', r.id
  from facts f, runs r
 where f.content = 'new';
"""
MET = """
select topic, how, content
  from run_facts m
  join runs r on r.id = m.run_id
  join facts f on f.id = m.fact_id
 order by topic, how, content
"""


@pytest.fixture
def connection(empty_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(empty_url, autocommit=True, row_factory=dict_row) as connection:
        migrate.create_table(connection)
        bring_to(connection, 70)
        connection.execute(BEFORE)
        bring_to(connection, 71)
        yield connection


def met(connection: psycopg.Connection) -> list[tuple[str, str, str]]:
    rows = connection.execute(MET).fetchall()
    return [(row["topic"], row["how"], row["content"]) for row in rows]


def test_the_migration_records_what_runs_stored_and_confirmed(connection: psycopg.Connection) -> None:
    assert met(connection) == [("first", "stored", "old"), ("second", "confirmed", "old")]
    rows = connection.execute("select 1 from runs where recorded_leases between 0 and lease - 1").fetchall()
    assert len(rows) == 2


def test_what_a_worker_of_the_version_before_stores_is_recorded(connection: psycopg.Connection) -> None:
    connection.execute(LATER)
    assert met(connection) == [
        ("first", "confirmed", "new"), ("first", "stored", "old"), ("second", "confirmed", "old"), ("second", "stored", "new")
    ]  # fmt: skip
    connection.execute("delete from corroborations")
    connection.execute("delete from facts where content = 'new'")
    connection.execute("delete from runs where topic = 'second'")
    assert met(connection) == [("first", "stored", "old")]


def test_rows_of_a_backup_come_with_those_of_their_runs(connection: psycopg.Connection) -> None:
    connection.execute("set chiron.restores = 'on'")
    connection.execute(LATER)
    assert len(met(connection)) == 2
