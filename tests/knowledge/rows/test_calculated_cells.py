"""A cell may have a number that the run calculated from the facts it names; readers see the formula, and nothing else passes."""

import json
from typing import Any
from uuid import UUID

import pytest
from support.research_rows import Shelf
from support.row_answers import cell, handing_in, known_fact, play_rows
from support.run_harness import Stage
from support.scripted_model import call, calls
from support.statement_judges import Item, Opinion, items_of, judging, words_of

from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.knowledge.rows.reading import AnswerRow, row_page
from chiron_workers.states import Verdict

COLUMNS = "name, difference:int"


@pytest.fixture
def facts(shelf: Shelf) -> tuple[UUID, UUID]:
    shelf.subject("databases", "Databases")
    return (
        known_fact(shelf, "Lake Baikal is 1,642 metres deep."),
        known_fact(shelf, "Lake Superior is 406 metres deep."),
    )


def sum_of(facts: tuple[UUID, ...], expression: str = "a - b", a: str = "1642", b: str = "406") -> Any:
    inputs = {
        "a": {"value": a, "unit": "m", "fact": str(facts[0])},
        "b": {"value": b, "unit": "m", "fact": str(facts[1])},
    }
    return calls(call("calculate", expression=expression, inputs=inputs, unit="m"))


def row(value: Any, facts: tuple[UUID, ...]) -> Any:
    return calls(handing_in({"cells": {"name": cell("Baikal", facts[0]), "difference": cell(value, *facts)}}))


async def rows_of(stage: Stage, run_id: UUID) -> list[AnswerRow]:
    columns = await columns_asked_for(stage.pool, run_id)
    return await row_page(stage.pool, run_id, columns, after=None, limit=100)


async def test_a_cell_takes_what_the_run_calculated_from_its_facts_and_shows_the_formula(
    stage: Stage, facts: tuple[UUID, UUID]
) -> None:
    seen: list[Item] = []

    def opinion(item: Item) -> Opinion:
        seen.append(item)
        return Opinion()

    run_id, _, [calculated, handed_in] = await play_rows(
        stage, sum_of(facts), row(1236, facts), columns=COLUMNS, judge=judging(opinion)
    )
    result = json.loads(calculated)
    assert (result["value"], result["unit"], result["exact"]) == ("1236", "m", "1236")
    assert result["facts"] == [str(fact) for fact in facts]
    assert "rows_in_all" in handed_in
    formula = "a - b = 1236 m, where a = 1642 m, b = 406 m"
    assert [item.statement.splitlines()[-1] for item in seen if "difference" in item.statement] == [
        f"calculation: {formula}"
    ]
    [answer] = await rows_of(stage, run_id)
    assert [part.calculation for part in answer.cells] == ["", formula]
    assert [fact.id for fact in answer.cells[1].facts] == [str(fact) for fact in facts]
    assert answer.cells[1].verdict is Verdict.SUPPORTED


async def test_a_judge_may_refuse_a_cell_for_its_formula(stage: Stage, facts: tuple[UUID, UUID]) -> None:
    def opinion(item: Item) -> Opinion:
        return Opinion("silent", "A sum is no difference.") if "a + b" in item.statement else Opinion()

    run_id, _, [_, handed_in] = await play_rows(
        stage, sum_of(facts, "a + b"), row(2048, facts), columns=COLUMNS, judge=judging(opinion)
    )
    assert "Its facts do not say so: A sum is no difference." in handed_in
    assert await rows_of(stage, run_id) == []


async def test_a_number_that_no_calculation_made_of_these_facts_is_refused(
    stage: Stage, facts: tuple[UUID, UUID], shelf: Shelf
) -> None:
    other = known_fact(shelf, "Lake Ladoga is 230 metres deep.")
    run_id, _, results = await play_rows(
        stage,
        row(1236, facts),
        sum_of(facts),
        row(1235, facts),
        row(1236, (facts[0],)),
        row(1236, (facts[0], other)),
        columns=COLUMNS,
        judge=judging(lambda item: Opinion()),
    )
    before, _, *others = results
    assert "Its facts do not say 1236" in before
    assert "have calculate make it of their numbers" in before
    assert all("Its facts do not say" in answer for answer in others)
    assert await rows_of(stage, run_id) == []


async def test_where_nobody_is_asked_a_calculation_with_numbers_of_its_own_carries_no_cell(
    stage: Stage, facts: tuple[UUID, UUID], setting: Any
) -> None:
    setting("VERDICT_MODEL", "none")
    _, _, results = await play_rows(
        stage,
        sum_of(facts, "0 * a + 0 * b / 1 + a / a * a - a + a * 7 / 7 + b"),
        row(2048, facts),
        columns=COLUMNS,
    )
    assert "rows_in_all" not in results[-1]
    run_id, _, results = await play_rows(stage, sum_of(facts), row(1236, facts), columns=COLUMNS)
    assert "rows_in_all" in results[-1]
    [answer] = await rows_of(stage, run_id)
    assert (answer.cells[1].verdict, answer.cells[1].mark) == (
        Verdict.UNCHECKED,
        "value found, meaning unchecked",
    )


async def test_the_judge_is_told_which_numbers_of_a_calculation_are_from_no_fact(
    stage: Stage, facts: tuple[UUID, UUID]
) -> None:
    await play_rows(
        stage,
        sum_of(facts, "(a - b) * 2"),
        row(2472, facts),
        columns=COLUMNS,
        judge=judging(lambda item: Opinion()),
    )
    [request] = stage.server.verdict_questions
    doubts = [doubt for item in items_of(words_of(request)) for doubt in item.doubts]
    assert "The calculation has numbers that are from no fact: 2." in doubts


@pytest.mark.parametrize(
    ("a", "fact", "words"),
    [
        ("1700", "", "does not say 1700"),
        ("1.642", "", "does not say 1.642"),
        ("1642", "00000000-0000-0000-0000-000000000007", "There is no fact"),
    ],
)
async def test_an_input_must_stand_in_the_fact_that_it_names(
    stage: Stage, facts: tuple[UUID, UUID], a: str, fact: str, words: str
) -> None:
    pair = (UUID(fact), facts[1]) if fact else facts
    _, _, [answer] = await play_rows(stage, sum_of(pair, a=a), columns=COLUMNS)
    assert "inputs: a:" in answer
    assert words in answer
