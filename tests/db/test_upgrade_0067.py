"""What rules alone had called supported is unchecked, with a line in its history, also when an older worker writes it."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import dict_row

from chiron_workers.db import migrate

BEFORE = """
insert into subjects (id, title) values ('lake', 'Lake');
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, quote_state,
                   verdict, verdict_by, verdict_reason)
select gen_random_uuid(), 'lake', verdict || ' by ' || verdict_by, 'https://a.org/', 0.9, 'a', 0.8, 'accepted', 'unverified',
       verdict, verdict_by, 'Why.'
  from (values ('supported', 'rules'), ('supported', 'claude'), ('partly', 'rules'), ('unchecked', ''))
       as v (verdict, verdict_by);
insert into corroborations (id, fact_id, content, source_url, source_score, claimed_confidence, quote_state, verdict, verdict_by)
select gen_random_uuid(), id, 'the same', 'https://b.org/', 0.9, 0.8, 'unverified', 'supported', 'rules'
  from facts
 where content = 'supported by claude';
insert into batches (id, name, subject_id, run_count, open_runs, request_hash) values (gen_random_uuid(), 'b', 'lake', 1, 0, '');
insert into runs (id, subject_id, batch_id, topic, role, model, state, max_turns)
select gen_random_uuid(), 'lake', id, 'lakes', 'writer', 'm', 'completed', 9 from batches;
insert into draft_sections (run_id, place, title, call_id) select id, 0, 'Summary', 'c' from runs;
insert into draft_sentences (run_id, place, n, text, fact_ids, verdict_reason, verdict_by)
select id, 0, n, 'A sentence.', array[gen_random_uuid()], 'Why.', by from runs, (values (1, 'rules'), (2, 'claude')) as v (n, by);
insert into answer_rows (run_id, n, id, call_id) select id, 1, gen_random_uuid(), 'c' from runs;
insert into answer_cells (run_id, n, place, value, fact_ids, verdict_reason, verdict_by)
select id, 1, place, '5', array[gen_random_uuid()], 'Why.', by from runs, (values (0, 'rules'), (1, 'claude')) as v (place, by);
"""


# What a worker of the version before writes between the triggers and the change of the rows.
BETWEEN = """
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, quote_state,
                   verdict, verdict_by, verdict_reason)
values (gen_random_uuid(), 'lake', %s, 'https://a.org/', 0.9, 'a', 0.8, 'accepted', 'unverified',
        'supported', 'rules', 'The quote says it in the same words.')
"""
STRONG_LOCKS = """
select 1
  from pg_locks
 where pid = pg_backend_pid()
   and relation in ('facts'::regclass, 'corroborations'::regclass)
   and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
"""
CHANGED_ROWS = "select 1 from facts where xmin = pg_current_xact_id()::xid"


def bring_to(connection: psycopg.Connection, version: int) -> None:
    """Apply the migrations that the database lacks up to a version."""
    rows = connection.execute("select version from schema_migrations").fetchall()
    applied_versions = {row["version"] for row in rows}
    for migration in migrate.migrations():
        if migration.version <= version and migration.version not in applied_versions:
            with connection.transaction():
                migrate.apply_within(connection, migration)
                migrate.record(connection, migration)


@pytest.fixture
def connection_before(empty_url: str) -> Iterator[psycopg.Connection]:
    """To a database of the version before, with rows."""
    with psycopg.connect(empty_url, autocommit=True, row_factory=dict_row) as opened:
        migrate.create_table(opened)
        bring_to(opened, 66)
        opened.execute(BEFORE)
        yield opened


@pytest.fixture
def connection(connection_before: psycopg.Connection, empty_url: str) -> psycopg.Connection:
    """To that database after it has been brought up to date beside a worker of the version before."""
    bring_to(connection_before, 67)
    connection_before.execute(BETWEEN, ["from between"])
    migrate.migrate(empty_url)
    return connection_before


def facts(connection: psycopg.Connection) -> dict[str, tuple]:
    rows = connection.execute("select * from facts").fetchall()
    return {row["content"]: (row["verdict"], row["verdict_by"], row["verdict_reason"]) for row in rows}


def test_what_rules_alone_supported_is_unchecked_and_its_confidence_stays(connection: psycopg.Connection):
    assert facts(connection) == {
        "supported by rules": ("unchecked", "", "No model was asked."),
        "supported by claude": ("supported", "claude", "Why."),
        "partly by rules": ("partly", "rules", "Why."),
        "unchecked by ": ("unchecked", "", "Why."),
        "from between": ("unchecked", "", "No model was asked."),
    }
    rows = connection.execute("select verdict, verdict_by from corroborations").fetchall()
    assert rows == [{"verdict": "unchecked", "verdict_by": ""}]
    states = connection.execute(
        "select distinct status, round(confidence::numeric, 2) = 0.8 as stays from facts"
    ).fetchall()
    assert states == [{"status": "accepted", "stays": True}]


def test_each_changed_fact_has_one_line_in_its_history(connection: psycopg.Connection):
    rows = connection.execute(
        "select f.content, c.status, c.confidence = f.confidence as stays, c.reason, substr(c.id::text, 15, 1) as version"
        "  from fact_changes c join facts f on f.id = c.fact_id order by 1"
    ).fetchall()
    assert [row["content"] for row in rows] == ["supported by claude", "supported by rules"]
    assert all("unchecked" in row["reason"] and row["stays"] and row["version"] == "7" for row in rows)


@pytest.mark.parametrize(
    "query",
    [
        "select verdict_by, verdict_reason from draft_sentences order by n",
        "select verdict_by, verdict_reason from answer_cells order by place",
    ],
)
def test_sentences_and_cells_that_rules_judged_say_so(connection: psycopg.Connection, query: str):
    rows = connection.execute(query).fetchall()
    assert [row["verdict_by"] for row in rows] == ["", "claude"]
    assert "meaning unchecked" in rows[0]["verdict_reason"]
    assert rows[1]["verdict_reason"] == "Why."


def test_a_worker_of_the_version_before_cannot_have_rules_support_a_fact(connection: psycopg.Connection):
    connection.execute("update facts set verdict = 'supported', verdict_by = 'rules'")
    connection.execute("update corroborations set verdict = 'supported', verdict_by = 'rules'")
    assert set(facts(connection).values()) == {("unchecked", "", "No model was asked.")}
    rows = connection.execute("select distinct verdict from corroborations").fetchall()
    assert rows == [{"verdict": "unchecked"}]


def test_no_migration_holds_both_changed_rows_and_a_lock_that_keeps_workers_out(
    connection_before: psycopg.Connection,
):
    kinds = []
    for migration in migrate.migrations():
        if migration.version >= 67:
            with connection_before.transaction():
                migrate.apply_within(connection_before, migration)
                is_strong = bool(connection_before.execute(STRONG_LOCKS).fetchall())
                has_changed_rows = bool(connection_before.execute(CHANGED_ROWS).fetchall())
                kinds.append((is_strong, has_changed_rows))
    assert (True, True) not in kinds
    assert (False, True) in kinds, "what rules had confirmed is changed"


def test_a_worker_of_the_version_before_writes_facts_while_the_rows_change(
    connection_before: psycopg.Connection, empty_url: str
):
    bring_to(connection_before, 68)
    [migration] = [migration for migration in migrate.migrations() if migration.version == 69]
    with psycopg.connect(empty_url, autocommit=True) as worker, connection_before.transaction():
        migrate.apply_within(connection_before, migration)
        worker.execute("set lock_timeout = '20s'")
        worker.execute(BETWEEN, ["from beside"])
        worker.execute("update facts set confidence = 0.7 where content = 'from beside'")
    assert facts(connection_before)["from beside"] == ("unchecked", "", "No model was asked.")
