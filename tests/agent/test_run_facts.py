"""A run records the facts that it met: stored, confirmed, returned by a search, and cited by its answer."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from support.executed_statements import executed_statements
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn
from support.scripted_sites import Site

from chiron_workers.batches.delete import delete
from chiron_workers.batches.summaries import RunFilter, newest_runs, run_summary, summary
from chiron_workers.knowledge.run_facts import record_earlier_runs
from chiron_workers.runs.leases import say
from chiron_workers.states import EventKind, Outcome
from chiron_workers.tools import registry

DEEP, LONG, OLD = (
    "Lake Baikal is 1,642 metres deep.",
    "Lake Baikal is 636 kilometres long.",
    "Lake Baikal is 25 million years old.",
)
PAGE = f"Lake Baikal\n\n{DEEP} {LONG} {OLD}"
NOTHING = "Nothing is known of its colour."


@pytest.fixture
def lake(stage: Stage, local_site: Site) -> Site:
    stage.registry = registry()
    local_site.text("/baikal", PAGE)
    return local_site


def stored(lake: Site, content: str) -> dict[str, Any]:
    return call(
        "store_knowledge",
        content=content,
        subject_id="physics",
        source_url=lake.url + "/baikal",
        source_score=0.6,
        topic_path="lakes/baikal",
        confidence=1.0,
        quote=content,
    )


def searched(query: str = "How deep is Lake Baikal?") -> dict[str, Any]:
    return call("vector_search", query=query, subject_id="physics", top_k=10, candidates=True)


async def play(stage: Stage, steps: Sequence[Says], topic: str = "Lake Baikal") -> UUID:
    await stage.model(lambda request: steps[turn(request)])
    [run_id] = await stage.submit(topic)
    assert await stage.play(run_id) is Outcome.PLAYED
    return run_id


async def met(stage: Stage, run_id: UUID) -> set[tuple[str, str]]:
    rows = await stage.rows(
        "select how, content from run_facts join facts on facts.id = fact_id where run_facts.run_id = %s",
        run_id,
    )
    return {(row["how"], row["content"]) for row in rows}


async def first_run(stage: Stage, lake: Site) -> UUID:
    return await play(
        stage,
        [
            calls(call("web_fetch", url=lake.url + "/baikal")),
            calls(stored(lake, DEEP), stored(lake, LONG), stored(lake, OLD)),
            says(f"The lake has a depth of 1,642 m ({lake.url}/baikal)."),
        ],
    )


async def test_facts_are_recorded_as_stored_confirmed_searched_and_cited(stage: Stage, lake: Site) -> None:
    first_id = await first_run(stage, lake)
    assert await met(stage, first_id) == {
        ("stored", DEEP), ("stored", LONG), ("stored", OLD), ("cited", DEEP)
    }  # fmt: skip

    search_id = await play(
        stage, [calls(searched()), says(f"It is 636 km long [1].\n\nSources:\n[1] {lake.url}/baikal")]
    )
    assert await met(stage, search_id) == {
        ("searched", DEEP), ("searched", LONG), ("searched", OLD), ("cited", LONG)
    }  # fmt: skip

    repeat_id = await play(
        stage,
        [
            calls(call("web_fetch", url=lake.url + "/baikal")),
            calls(stored(lake, OLD)),
            says("It is very old."),
        ],
    )
    assert await met(stage, repeat_id) == {("confirmed", OLD)}

    runs = [await run_summary(stage.pool, run_id) for run_id in (first_id, search_id, repeat_id)]
    assert [(run.facts, run.confirmed, run.cited, run.nothing_found) for run in runs] == [
        (3, 0, 0, False), (0, 0, 1, False), (0, 1, 0, False)
    ]  # fmt: skip
    rows = await stage.rows("select 1 from runs where recorded_leases = lease")
    assert len(rows) == len(runs)


async def test_a_completed_run_that_cites_no_fact_found_nothing(stage: Stage, lake: Site) -> None:
    await first_run(stage, lake)
    run_id = await play(stage, [calls(searched("Which colour has it?")), says(NOTHING)], "Its colour")
    run = await run_summary(stage.pool, run_id)
    assert (run.cited, run.nothing_found) == (0, True)
    assert (await summary(stage.pool, run.batch_id)).nothing_found == 1
    for answer, run_ids in ((True, [run_id]), (None, 2), (False, 1)):
        runs = await newest_runs(stage.pool, RunFilter(nothing_found=answer), limit=10)
        assert [run.id for run in runs] == run_ids if answer else len(runs) == run_ids
    [completed] = [
        event for event in stage.published if event.kind is EventKind.RUN_COMPLETED and event.run_id == run_id
    ]
    assert completed.data == {"answer": NOTHING, "nothing_found": True}
    [row] = await stage.rows("select data from events where run_id = %s and kind = 'run.completed'", run_id)
    assert row["data"] == completed.data


async def test_what_an_answer_cites_replaces_what_the_answer_before_cited(stage: Stage, lake: Site) -> None:
    await first_run(stage, lake)
    steps = [
        calls(searched()),
        says(f"It is 636 km long ({lake.url}/baikal)."),
        says(f"It is 25 million years old ({lake.url}/baikal)."),
    ]
    await stage.model(lambda request: steps[turn(request)])
    [run_id] = await stage.submit("How long is it?")
    await stage.play(run_id)
    assert ("cited", LONG) in await met(stage, run_id)
    await say(stage.pool, run_id, "And how old?")
    await stage.play(run_id)
    assert {pair for pair in await met(stage, run_id) if pair[0] == "cited"} == {("cited", OLD)}
    assert (await run_summary(stage.pool, run_id)).cited == 1


async def test_a_turn_sends_no_statement_more_for_the_facts_that_its_tools_met(
    stage: Stage, lake: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await first_run(stage, lake)
    statements = executed_statements(monkeypatch)
    await play(stage, [calls(searched()), says(NOTHING)])
    with_facts = len(statements)
    assert statements.count_of("insert into run_facts") == 2  # with the result, and at the end
    statements.clear()
    await play(stage, [calls(call("list_subjects")), says(NOTHING)])
    searches = 3  # what a search itself reads
    assert with_facts - len(statements) <= searches


async def test_runs_of_a_version_before_are_recorded_from_their_results_and_answers(
    stage: Stage, lake: Site
) -> None:
    first_id = await first_run(stage, lake)
    search_id = await play(stage, [calls(searched()), says(f"It is 636 km long ({lake.url}/baikal).")])
    repeat_id = await play(
        stage,
        [
            calls(call("web_fetch", url=lake.url + "/baikal")),
            calls(stored(lake, OLD)),
            says("It is very old."),
        ],
    )
    expected = {run_id: await met(stage, run_id) for run_id in (first_id, search_id, repeat_id)}
    # As the migration leaves them: what facts and corroborations tell is recorded.
    await stage.rows("delete from run_facts where how <> 'stored' returning 1")
    await stage.rows("update runs set recorded_leases = 0, cited = 0 returning 1")
    assert await record_earlier_runs(stage.pool) == 3
    assert {run_id: await met(stage, run_id) for run_id in expected} == expected
    assert (await run_summary(stage.pool, search_id)).cited == 1
    assert await record_earlier_runs(stage.pool) == 0

    await stage.rows(
        "update runs set recorded_leases = 0, pruned_at = now() where id = %s returning 1", search_id
    )
    await record_earlier_runs(stage.pool)
    assert (await stage.row(search_id))["recorded_leases"] == -1


async def test_a_fact_that_is_deleted_is_met_by_nobody_and_a_run_takes_its_rows_along(
    stage: Stage, lake: Site
) -> None:
    first_id = await first_run(stage, lake)
    search_id = await play(stage, [calls(searched()), says(f"It is 636 km long ({lake.url}/baikal).")])
    await delete(stage.pool, first_id, with_facts=True)
    # What another run cites stays, as its own.
    assert await met(stage, search_id) == {("searched", LONG), ("cited", LONG)}
    [row] = await stage.rows("select run_id from facts")
    assert row["run_id"] == search_id
    assert await stage.rows("select 1 from run_facts where run_id = %s", first_id) == []
    [count] = await stage.rows("select count(*) as n from run_facts")
    assert count["n"] == 2
    await delete(stage.pool, search_id, with_facts=True)
    assert await stage.rows("select 1 from facts union all select 1 from run_facts") == []


async def test_the_cells_of_rows_cite_their_facts(stage: Stage, lake: Site) -> None:
    await first_run(stage, lake)
    run_id = await play(stage, [calls(searched()), says(NOTHING)])
    [fact] = await stage.rows("select id from facts where content = %s", DEEP)
    await stage.rows(
        "insert into answer_rows (run_id, n, id, call_id) values (%s, 1, gen_random_uuid(), 'c') returning 1",
        run_id,
    )
    await stage.rows(
        "insert into answer_cells (run_id, n, place, value, fact_ids) values (%s, 1, 0, '1642', %s) returning 1",
        run_id, [fact["id"]],
    )  # fmt: skip
    await stage.rows("update runs set recorded_leases = 0 returning 1")
    await record_earlier_runs(stage.pool)
    assert ("cited", DEEP) in await met(stage, run_id)
    assert not (await run_summary(stage.pool, run_id)).nothing_found
