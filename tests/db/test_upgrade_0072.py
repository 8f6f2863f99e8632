"""Runs of versions before get their numbers, also those that an older submitter adds, and batches say what they were for."""

from collections.abc import Iterator

import psycopg
import pytest
from db.test_upgrade_0067 import bring_to
from psycopg.rows import dict_row

from chiron_workers.db import migrate

BEFORE = """
insert into subjects (id, title) values ('lake', 'Lake');
insert into batches (id, name, subject_id, run_count, open_runs, request_hash, idempotency_key)
select gen_random_uuid(), name, 'lake', 3, 0, '', key
  from (values ('Lakes week 1', null), ('Report: Lakes', 'report 0aff'), ('Check: lake', 'anna: check 0aff'),
               ('Lesson: Ice', 'lesson 0aff'), ('My report', 'report 2026')) as v (name, key);
"""
RUNS = """
insert into runs (id, subject_id, batch_id, topic, role, model, state, max_turns)
select overlay(b.id::text placing lpad(n::text, 4, '0') from 33)::uuid, 'lake', b.id, b.name || n, 'research', 'm', 'completed', 9
  from batches b, generate_series(%s::int, %s::int) n
"""
NUMBERS = "select b.name, array_agg(number order by r.id) as numbers from batches b join runs r on r.batch_id = b.id group by 1"


@pytest.fixture
def connection_before(empty_url: str) -> Iterator[psycopg.Connection]:
    """To a database of the version before, with batches of three runs each."""
    with psycopg.connect(empty_url, autocommit=True, row_factory=dict_row) as opened:
        migrate.create_table(opened)
        bring_to(opened, 71)
        opened.execute(BEFORE)
        opened.execute(RUNS, [1, 3])
        yield opened


def test_runs_are_numbered_and_batches_say_what_they_were_for(connection_before: psycopg.Connection) -> None:
    bring_to(connection_before, 72)
    rows = connection_before.execute(NUMBERS).fetchall()
    assert [row["numbers"] for row in rows] == [[1, 2, 3]] * 5
    kinds = connection_before.execute("select name, kind from batches").fetchall()
    assert {row["name"]: row["kind"] for row in kinds} == {
        "Lakes week 1": "research",
        "Report: Lakes": "report",
        "Check: lake": "check",
        "Lesson: Ice": "learning",
        "My report": "research",
    }


def test_what_an_older_submitter_adds_is_numbered_as_it_arrives(
    connection_before: psycopg.Connection,
) -> None:
    bring_to(connection_before, 72)
    connection_before.execute(RUNS, [11, 14])
    rows = connection_before.execute(NUMBERS).fetchall()
    assert [row["numbers"] for row in rows] == [[1, 2, 3, 4, 5, 6, 7]] * 5
