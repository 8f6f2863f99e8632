"""Rows: each cell has stored facts that bear it out, or a reason why it is empty; the rest is refused with what to do."""

import json
from typing import Any
from uuid import UUID

import pytest
from support.research_rows import Shelf
from support.row_answers import (
    RELEASE,
    SITE,
    cell,
    empty,
    handing_in,
    known_fact,
    one_call,
    play_rows,
    row,
    submit_rows,
)
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn, verdicts

from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.batches.delete import delete
from chiron_workers.knowledge.rows import rows as rows_module
from chiron_workers.knowledge.rows.reading import AnswerRow, row_page
from chiron_workers.states import Outcome, Verdict


@pytest.fixture
def fact(shelf: Shelf) -> UUID:
    shelf.subject("databases", "Databases")
    return known_fact(shelf)


async def rows_of(stage: Stage, run_id: UUID) -> list[AnswerRow]:
    columns = await columns_asked_for(stage.pool, run_id)
    return await row_page(stage.pool, run_id, columns, after=None, limit=100)


def values(rows: list[AnswerRow]) -> list[list[Any]]:
    return [[part.value for part in each.cells] for each in rows]


async def test_rows_are_kept_with_the_facts_of_each_cell(stage: Stage, fact: UUID) -> None:
    given = row(cell("PostgreSQL", fact), cell(1996, fact), empty("The page has no author."))
    run_id, outcome, [result] = await play_rows(stage, one_call(given))
    assert outcome is Outcome.PLAYED
    assert result == '{"rows": [1], "rows_in_all": 1, "empty_cells": 1}'
    [kept] = await rows_of(stage, run_id)
    assert [part.value for part in kept.cells] == ["PostgreSQL", 1996, None]
    assert [[known.id for known in part.facts] for part in kept.cells] == [[str(fact)], [str(fact)], []]
    assert kept.cells[0].facts[0].statement == RELEASE
    assert kept.cells[0].facts[0].sources == (SITE,)
    assert kept.cells[2].reason == "The page has no author."
    assert (kept.n, kept.topic) == (1, "When were databases first released?")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (cell("nineteen ninety-six"), "year: must be a whole number in digits alone"),
        (cell("1,996.5"), "year: must be a whole number"),
        (cell(True), "year: must be a whole number"),
        (cell(1996), "It names no fact"),
        (cell(1997, "{fact}"), "Its facts do not say 1997"),
        (cell(1996, "00000000-0000-0000-0000-000000000007"), "There is no fact"),
        (cell(1996, "not an id"), "There is no fact not an id"),
        ({"value": None}, "empty without a reason"),
        ({"value": "  ", "reason": ""}, "empty without a reason"),
        ({"value": 1996, "facts": ["{fact}"], "reason": "why not"}, "a value and a reason"),
        (empty("x" * 501), "The reason has 501 characters"),
    ],
)
async def test_a_cell_that_cannot_stand_is_refused_with_what_to_do(
    stage: Stage, fact: UUID, wrong: dict[str, Any], words: str
) -> None:
    if "facts" in wrong:
        wrong = wrong | {"facts": [str(fact) if name == "{fact}" else name for name in wrong["facts"]]}
    run_id, outcome, results = await play_rows(stage, one_call(row(cell("PostgreSQL", fact), wrong, empty())))
    assert words in results[0]
    assert "Row 1, year" in results[0]
    assert outcome is Outcome.FAILED  # it was reminded, and handed in nothing
    assert await rows_of(stage, run_id) == []


async def test_an_invented_value_is_refused_whatever_its_type(stage: Stage, fact: UUID) -> None:
    columns = "name, year:int, size:float, day:date, page:url, free:bool"
    good = {
        "name": empty(),
        "year": empty(),
        "size": empty(),
        "day": empty(),
        "page": empty(),
        "free": empty(),
    }
    inventions = {
        "name": "Berkeley Ingres",
        "year": 1995,
        "size": 1.5,
        "day": "1996-07-08",
        "page": "https://example.org/else",
        "free": True,
    }
    replies = [
        calls(handing_in({"cells": good | {name: cell(value, fact)}})) for name, value in inventions.items()
    ]
    run_id, _, results = await play_rows(stage, *replies, columns=columns, judge=None)
    for name, result in zip(inventions, results, strict=False):
        assert f"Row 1, {name}: " in result, name
    assert await rows_of(stage, run_id) == []


async def test_a_figure_that_stands_in_no_fact_is_refused_though_a_model_vouches_for_it(
    stage: Stage, fact: UUID
) -> None:
    inventions = {"year": 1995, "size": 1.5, "day": "1996-07-08", "page": "https://example.org/else"}
    columns = "year:int, size:float, day:date, page:url"
    replies = [
        calls(handing_in({"cells": {key: empty() for key in inventions} | {name: cell(value, fact)}}))
        for name, value in inventions.items()
    ]
    run_id, _, results = await play_rows(stage, *replies, columns=columns, judge=verdicts)
    for name, result in zip(inventions, results, strict=False):
        assert f"Row 1, {name}: " in result, name
    assert await rows_of(stage, run_id) == []


async def test_all_cells_of_a_call_are_asked_of_a_model_in_one_question(stage: Stage, fact: UUID) -> None:
    given = row(cell("Postgres, the database", fact), cell(1996, fact), cell("the project's own site", fact))
    questions: list[dict[str, Any]] = []

    def judge(request: dict[str, Any]) -> Says:
        questions.append(request)
        return verdicts(request)

    run_id, outcome, _ = await play_rows(stage, one_call(given), judge=judge)
    assert outcome is Outcome.PLAYED
    assert len(questions) == 1
    words = str(questions[0]["messages"])
    assert "column: name\\ntype: text\\nvalue: Postgres, the database" in words
    assert "row: Postgres, the database\\ncolumn: source\\ntype: text\\nvalue: the project" in words
    assert "table: When were databases first released?" in words
    assert RELEASE in words
    [kept] = await rows_of(stage, run_id)
    assert [part.found_by for part in kept.cells] == [stage.model_name] * 3
    assert {(part.verdict, part.mark) for part in kept.cells} == {(Verdict.SUPPORTED, "")}


async def test_a_value_that_the_model_does_not_find_in_the_facts_is_refused(stage: Stage, fact: UUID) -> None:
    given = row(cell("Postgres, the database", fact), cell(1996, fact), empty())
    run_id, outcome, results = await play_rows(
        stage, one_call(given), judge=lambda request: verdicts(request, "silent", "It speaks of another.")
    )
    assert "Row 1, name: Its facts do not say so: It speaks of another." in results[0]
    assert outcome is Outcome.FAILED
    assert await rows_of(stage, run_id) == []


async def test_what_a_fact_denies_does_not_stand_in_it(stage: Stage, shelf: Shelf, fact: UUID) -> None:
    denial = known_fact(shelf, "MySQL does not support windows.")
    given = row(cell("support windows", denial), empty(), empty())
    _, _, results = await play_rows(stage, one_call(given), judge=None)
    assert "Row 1, name: Nobody could say whether its facts support it." in results[0]


async def test_facts_of_another_subject_and_withdrawn_ones_are_refused(
    stage: Stage, shelf: Shelf, fact: UUID
) -> None:
    shelf.subject("birds", "Birds")
    stranger = known_fact(shelf, "Ducks were counted in 1996.", subject="birds")
    withdrawn = known_fact(shelf, "MySQL was first released in 1995.", status="withdrawn")
    given = row(cell("Ducks", stranger), cell(1995, withdrawn), empty())
    _, _, results = await play_rows(stage, one_call(given))
    assert f"Row 1, name: Fact {stranger} belongs to another subject." in results[0]
    assert f"Row 1, year: Fact {withdrawn} was withdrawn." in results[0]


async def test_facts_that_contradict_each_other_fill_no_cell(stage: Stage, shelf: Shelf, fact: UUID) -> None:
    other = known_fact(shelf, "PostgreSQL was first released in 1995.", status="disputed")
    shelf.link(other, fact, "contradicts")
    given = row(cell("PostgreSQL", fact), cell(1996, fact, other), empty())
    _, _, results = await play_rows(stage, one_call(given))
    assert "Row 1, year: Its facts contradict each other." in results[0]


async def test_a_row_lacks_no_column_and_has_none_too_many(stage: Stage, fact: UUID) -> None:
    given = {"cells": {"name": cell("PostgreSQL", fact), "Year": empty()}}
    _, _, [result, *_] = await play_rows(stage, one_call(given))
    assert "Row 1: year is missing." in result
    assert "Row 1: There is no column 'Year'; there are name, year, source." in result


async def test_a_row_of_the_same_values_is_the_same_row_and_a_number_replaces_one(
    stage: Stage, fact: UUID
) -> None:
    first = row(cell("PostgreSQL", fact), empty(), empty())
    mended = row(cell("PostgreSQL", fact), cell(1996, fact), empty())
    other = row(empty(), empty(), empty())
    run_id, _, results = await play_rows(
        stage,
        one_call(first),
        one_call(first, other),
        one_call(mended | {"replaces": 1}),
        one_call(first | {"replaces": 9}),
    )
    assert [result[:14] for result in results[:3]] == ['{"rows": [1], ', '{"rows": [1, 2', '{"rows": [1], ']
    assert "Row 1: there is no row 9 to replace." in results[3]
    assert values(await rows_of(stage, run_id)) == [["PostgreSQL", 1996, None], [None, None, None]]


async def test_a_run_that_stops_without_rows_is_reminded_and_ends_with_them(stage: Stage, fact: UUID) -> None:
    given = row(cell("PostgreSQL", fact), cell(1996, fact), empty())
    run_id, outcome, _ = await play_rows(stage, says("It was 1996."), one_call(given))
    assert outcome is Outcome.PLAYED
    assert len(await rows_of(stage, run_id)) == 1
    [reminder] = await stage.rows(
        "select body from entries where kind = 'question' and body::text like %s",
        "%have not handed%",
    )
    assert "hand_in_rows" in str(reminder)


async def test_only_a_run_that_is_asked_for_rows_is_told_of_them_and_may_hand_them_in(
    stage: Stage, fact: UUID
) -> None:
    await play_rows(stage, one_call(row(empty(), empty(), empty())))
    request = stage.server.requests[0]
    assert "hand_in_rows" in [tool["name"] for tool in request["tools"]]
    assert '{"name": "year", "type": "int", "description": ""}' in str(request["system"])
    await stage.model(
        lambda request: [calls(handing_in(row(empty(), empty(), empty()))), says("Done.")][turn(request)]
    )
    [run_id] = await stage.submit("tides")
    await stage.play(run_id)
    first, last = stage.server.requests
    assert "hand_in_rows" not in [tool["name"] for tool in first["tools"]]
    assert "hand_in_rows" not in str(first["system"])
    assert "asked for no rows" in str(last["messages"][-1]["content"])


async def test_a_cell_says_when_its_fact_was_withdrawn_contradicted_or_deleted_since(
    stage: Stage, shelf: Shelf, fact: UUID
) -> None:
    other = known_fact(shelf, "MySQL was first released in 1995.")
    gone = known_fact(shelf, "SQLite was first released in 2000.")
    given = row(cell("PostgreSQL", fact), cell(1995, other), cell("SQLite", gone))
    run_id, _, _ = await play_rows(stage, one_call(given))
    opponent = known_fact(shelf, "MySQL was first released in 1994.", status="disputed")
    shelf.link(opponent, other, "contradicts")
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (fact,))
    shelf.connection.execute("delete from facts where id = %s", (gone,))
    [kept] = await rows_of(stage, run_id)
    assert [part.changes for part in kept.cells] == [
        (f"Fact {fact} was withdrawn since.",),
        (f"Fact {other} is contradicted by fact {opponent}.",),
        (f"Fact {gone} was deleted since.",),
    ]
    assert [part.value for part in kept.cells] == ["PostgreSQL", 1995, "SQLite"]


async def test_a_run_lists_what_it_has_handed_in(stage: Stage, fact: UUID) -> None:
    given = row(cell("PostgreSQL", fact), cell(1996, fact), empty())
    _, _, results = await play_rows(
        stage, one_call(given), calls(call("list_rows")), calls(call("list_rows", after=1))
    )
    assert json.loads(results[1]) == [
        {"row": 1, "values": {"name": "PostgreSQL", "year": 1996, "source": None}}
    ]  # fmt: skip
    assert json.loads(results[2]) == []


async def test_a_run_hands_in_so_many_rows_and_bytes_and_no_more(
    stage: Stage, fact: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "ROWS_MAX", 2)
    words = ["PostgreSQL", "released", "first"]
    given = [row(cell(word, fact), empty(), empty()) for word in words]
    run_id, outcome, results = await play_rows(
        stage, one_call(*given[:2]), one_call(given[2]), one_call(*given * 17)
    )
    assert outcome is Outcome.PLAYED
    assert "a run has at most 2 of them" in results[1]
    assert "rows: " in results[2]  # 51 at once
    assert values(await rows_of(stage, run_id)) == [["PostgreSQL", None, None], ["released", None, None]]
    monkeypatch.setattr(rows_module, "BYTES_MAX", 10)
    _, _, [result, *_] = await play_rows(stage, one_call(given[0]))
    assert "Nothing of this call was kept" in result


async def test_rows_go_with_their_run(stage: Stage, fact: UUID) -> None:
    run_id, _, _ = await play_rows(stage, one_call(row(cell("PostgreSQL", fact), empty(), empty())))
    batch_id = (await stage.row(run_id))["batch_id"]
    assert len(await rows_of(stage, run_id)) == 1
    await delete(stage.pool, batch_id)
    assert await stage.rows("select 1 from answer_rows union all select 1 from answer_cells") == []


async def test_rows_come_by_topics_and_numbers_page_by_page(stage: Stage, fact: UUID) -> None:
    run_ids = await submit_rows(stage, "first", "second")
    names = iter(["PostgreSQL", "1996", "released", "first"])

    def script(request: dict[str, Any]) -> Says:
        if turn(request):
            return says("Done.")
        both = [row(cell(next(names), fact), empty(), empty()) for _ in range(2)]
        return calls(*(handing_in(given) for given in both))

    await stage.model(script)
    for run_id in run_ids:
        assert await stage.play(run_id) is Outcome.PLAYED
    batch_id = (await stage.row(run_ids[0]))["batch_id"]
    columns = await columns_asked_for(stage.pool, batch_id)
    first = await row_page(stage.pool, batch_id, columns, after=None, limit=3)
    rest = await row_page(stage.pool, batch_id, columns, after=first[-1].id, limit=3)
    assert [(each.topic, each.n) for each in first + rest] == [
        ("first", 1), ("first", 2), ("second", 1), ("second", 2)
    ]  # fmt: skip


async def test_a_fact_that_the_run_stores_itself_fills_a_cell_though_it_is_a_candidate(
    stage: Stage, shelf: Shelf
) -> None:
    shelf.subject("databases", "Databases")

    def script(request: dict[str, Any]) -> Says:
        match turn(request):
            case 0:
                return calls(
                    call(
                        "store_knowledge", content=RELEASE, subject_id="databases", source_url=SITE,
                        source_score=0.5, topic_path="history", confidence=0.5, quote=RELEASE,
                    )
                )  # fmt: skip
            case 1:
                [result] = request["messages"][-1]["content"]
                fact_id = str(result["content"]).split('"fact_id": "')[1][:36]
                return calls(handing_in(row(cell("PostgreSQL", fact_id), cell(1996, fact_id), empty())))
        return says("Done.")

    await stage.model(script)
    [run_id] = await submit_rows(stage)
    shelf.source(SITE, f"{RELEASE} And more.", run_id=run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    [kept] = await rows_of(stage, run_id)
    assert [str(known.status) for known in kept.cells[1].facts] == ["candidate"]
