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


@pytest.fixture
def connection(empty_url: str) -> Iterator[psycopg.Connection]:
    """To a database of the version before, with rows, that has been brought up to date."""
    with psycopg.connect(empty_url, autocommit=True, row_factory=dict_row) as opened:
        migrate.create_table(opened)
        for migration in migrate.migrations():
            if migration.version < 67:
                with opened.transaction():
                    migrate.apply_within(opened, migration)
                    values = (migration.version, migration.name)
                    opened.execute("insert into schema_migrations (version, name) values (%s, %s)", values)
        opened.execute(BEFORE)
        migrate.migrate(empty_url)
        yield opened


def facts(connection: psycopg.Connection) -> dict[str, tuple]:
    rows = connection.execute("select * from facts").fetchall()
    return {row["content"]: (row["verdict"], row["verdict_by"], row["verdict_reason"]) for row in rows}


def test_what_rules_alone_supported_is_unchecked_and_its_confidence_stays(connection: psycopg.Connection):
    assert facts(connection) == {
        "supported by rules": ("unchecked", "", "No model was asked."),
        "supported by claude": ("supported", "claude", "Why."),
        "partly by rules": ("partly", "rules", "Why."),
        "unchecked by ": ("unchecked", "", "Why."),
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
