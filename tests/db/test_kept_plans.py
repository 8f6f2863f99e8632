"""Plans that Postgres makes while tables are small, and keeps for as long as a connection prepares its statements."""

import re
from types import ModuleType
from typing import Any

import pytest
from psycopg.sql import SQL, Composed
from psycopg.types.json import Json

from chiron_workers.billing import reservations
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.facts import confidences
from chiron_workers.knowledge.search import search
from chiron_workers.runs import journal
from chiron_workers.sources import changes, private_texts, sources
from chiron_workers.web import shared_pages

FENCED = [
    *((journal, name) for name in ("append", "append_side_reply", "settle_call", "settle_writes")),
    *((reservations, name) for name in ("reserve", "lock_run", "release", "write_off")),
]
EXECUTIONS = 12  # Postgres decides after five whether it keeps a plan


async def kept_plan(pool: Pool, query: SQL | Composed) -> str:
    """The plan for any arguments, in a database whose tables nobody has analysed yet."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}" + ("::bigint" if match[1] == "tokens" else "")

    text = re.sub(r"%\((\w+)\)s", number, query.as_string())
    async with pool.connection() as connection:
        rows = await (await connection.execute(f"explain (generic_plan) {text}".encode())).fetchall()
    return "\n".join(line for row in rows for line in row.values())


@pytest.mark.parametrize(("module", "name"), FENCED, ids=[name for _, name in FENCED])
async def test_a_run_is_looked_up_by_its_id_and_not_among_all_that_run(
    pool: Pool, module: ModuleType, name: str
) -> None:
    plan = await kept_plan(pool, module.SQL[name])
    assert set(re.findall(r"Scan using (\w+) on runs(?: r)?  ", plan)) == {"runs_pkey"}


async def test_a_shared_page_is_looked_up_with_the_run_that_fetches_it(pool: Pool) -> None:
    assert "runs_running" not in await kept_plan(pool, shared_pages.SQL["claim"])


async def test_a_page_that_was_read_is_looked_up_without_all_runs_of_the_batch(pool: Pool) -> None:
    assert "runs_batch" not in await kept_plan(pool, sources.SQL["versions"])


async def test_private_facts_are_looked_for_among_what_is_shown(pool: Pool) -> None:
    plan = await kept_plan(pool, private_texts.SQL["private_facts"])
    assert not re.search("Seq Scan on (facts|corroborations|private_runs)", plan)


async def test_a_text_is_looked_for_among_what_a_fact_rests_on(pool: Pool) -> None:
    of_facts = SQL("select {} from facts f").format(search.SQL["same_text"])
    plan = await kept_plan(pool, of_facts)
    assert "snapshot" not in "".join(re.findall("Index Scan using .*", plan))


@pytest.mark.parametrize(
    ("query", "args"),
    [
        (changes.SQL["latest"], {"urls": ["https://example.org/"]}),
        (confidences.SQL["store_sketches"], {"hashes": ["0" * 64], "sketches": [b""], "studies": [Json([])]}),
    ],
    ids=["the latest changes of a source", "sketches"],
)
async def test_a_plan_is_kept(pool: Pool, query: SQL, args: dict[str, Any]) -> None:
    async with pool.connection() as connection:
        for _ in range(EXECUTIONS):
            await connection.execute(query, args, prepare=True)
        plans = await connection.execute("select generic_plans, custom_plans from pg_prepared_statements")
        assert await plans.fetchall() == [{"generic_plans": EXECUTIONS - 5, "custom_plans": 5}]


async def test_no_facts_are_looked_at_for_the_language_of_a_subject_that_has_but_one(pool: Pool) -> None:
    looks = "select coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as n from pg_stat_xact_user_tables where relname = 'facts'"
    async with pool.connection() as connection, connection.transaction():
        for languages, of_subject, is_looking in (
            (["german"], "german", False),
            (["german", "french"], "german", True),
            ([], None, True),
        ):
            await connection.execute(
                "insert into subjects (id, title, languages) values ('moons', 'Moons', %s)"
                " on conflict (id) do update set languages = excluded.languages",
                [languages],
            )
            before = await (await connection.execute(looks)).fetchone()
            row = await (
                await connection.execute("select language_of_subject('moons') as language")
            ).fetchone()
            after = await (await connection.execute(looks)).fetchone()
            assert row == {"language": of_subject}
            assert (after != before) is is_looking
