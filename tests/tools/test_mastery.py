from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.runs.session import Caller

Call = Callable[..., Awaitable[Any]]


@pytest.fixture
async def node(call: Call) -> str:
    saved = await call(
        "save_knowledge_node", {"subject_id": "moon", "title": "Phases", "description": "All."}
    )
    node_id: str = saved["node_id"]
    return node_id


async def test_progress_begins_with_nothing_answered(call: Call, node: str) -> None:
    assert await call("get_user_progress", {"node_id": node}) == {
        "node_id": node,
        "attempts": 0,
        "correct": 0,
        "mastery": 0.2,
        "mastered": False,
        "last_answered_at": None,
        "next_review": None,
        "questions": [],
        "history": [],
    }


async def test_each_recorded_answer_moves_the_mastery(call: Call, node: str) -> None:
    answer = {"node_id": node, "question_hash": 17, "response": "Because of the Sun.", "lesson_id": "null"}
    seen = [(await call("record_assessment", {**answer, "correct": "true"}))["mastery"] for _ in range(3)]
    assert seen == [0.6, 0.8903, 0.9774]
    progress = await call("get_user_progress", {"node_id": node})
    assert (progress["mastered"], progress["attempts"], progress["correct"]) == (True, 3, 3)
    assert progress["questions"] == [
        {"question_hash": "17", "attempts": 3, "correct": 3, "last_correct": True}
    ]
    assert progress["next_review"] > progress["last_answered_at"]
    assert [(entry["response"], entry["mark"]) for entry in progress["history"]] == [
        ("Because of the Sun.", "right")
    ] * 3
    after = await call(
        "record_assessment", {**answer, "correct": "no", "question_hash": "q2", "lesson_id": "l1"}
    )
    assert after["mastery"] < 0.95
    assert after["mastered"] is False


async def test_a_run_reads_what_was_answered_only_where_it_asks_or_marks(call: Call, node: str) -> None:
    answer = {"node_id": node, "question_hash": "q", "response": "x", "correct": True}
    await call("record_assessment", answer)
    for role, count in (("research", 0), ("lesson", 0), ("assessment", 1), ("judge", 1)):
        caller = Caller(run_id=new_id(), role=role, subject_id="moon")
        progress = await call("get_user_progress", {"node_id": node}, caller)
        assert (progress["attempts"], len(progress["history"])) == (1, count), role


async def test_an_answer_belongs_to_the_learner_who_gave_it(call: Call, node: str) -> None:
    answer = {"node_id": node, "question_hash": "q", "response": "x", "correct": True}
    await call("record_assessment", answer, Caller(owner="ada"))
    assert (await call("get_user_progress", {"node_id": node}, Caller(owner="ada")))["attempts"] == 1
    assert (await call("get_user_progress", {"node_id": node}))["attempts"] == 0


async def test_a_node_that_is_not_there_is_named_and_nothing_is_stored(call: Call) -> None:
    for wrong in ("phases", str(new_id())):
        answer = {"node_id": wrong, "question_hash": "q", "response": "x", "correct": True}
        for tool, arguments in (("record_assessment", answer), ("get_user_progress", {"node_id": wrong})):
            with pytest.raises(ToolValidationError, match=r"^node_id: ") as caught:
                await call(tool, arguments)
            assert caught.value.field == "node_id"


@pytest.mark.parametrize("role", ["research", "lesson", None])
async def test_a_run_that_hears_no_learner_marks_nobody(
    call: Call, node: str, in_a_run: Caller, role: str | None
) -> None:
    answer = {"node_id": node, "question_hash": "q", "response": "x", "correct": True}
    with pytest.raises(ToolError, match="marks nobody"):
        await call("record_assessment", answer, replace(in_a_run, role=role))
    assert (await call("get_user_progress", {"node_id": node}))["attempts"] == 0


async def test_a_run_marks_answers_on_nodes_of_its_own_subject_only(
    call: Call, node: str, in_a_run: Caller
) -> None:
    assessing = replace(in_a_run, role="assessment")
    of_mars = await call(
        "save_knowledge_node",
        {"subject_id": "mars", "title": "Seasons", "description": "All.", "shared_with_subjects": ["moon"]},
    )
    answer = {"question_hash": "q", "response": "x", "correct": True}
    assert (await call("record_assessment", answer | {"node_id": node}, assessing))["attempts"] == 1
    with pytest.raises(
        ToolValidationError, match="node_id: this run works on 'moon' and cannot write to 'mars'"
    ):
        await call("record_assessment", answer | {"node_id": of_mars["node_id"]}, assessing)
    assert (await call("get_user_progress", {"node_id": of_mars["node_id"]}))["attempts"] == 0
