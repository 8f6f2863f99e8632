"""The judge: what it is shown of an answer, and what it takes of a model's reply."""

import re
from typing import Any
from uuid import UUID

import pytest
from support.course import AsLearner, Course
from support.injections import INJECTIONS
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.knowledge.assessment.quizzes import Quiz
from chiron_workers.states import Mark, Marker, Outcome
from chiron_workers.tools import registry

KEY = "the freeboard of sea ice"


def is_marking(request: dict[str, Any]) -> bool:
    return [tool["name"] for tool in request.get("tools", ())] == ["give_mark"]


def words_of(request: dict[str, Any]) -> str:
    content = request["messages"][0]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def answer_in(request: dict[str, Any]) -> str:
    match = re.search(r"<(answer-[0-9a-f]{16})>\n(.*)\n</\1>\s*\Z", words_of(request), re.DOTALL)
    assert match is not None
    return match[2]


def obedient(request: dict[str, Any]) -> Says:
    """A model that does whatever it is told outside of the quotation, and marks the quoted answer by its words."""
    answer = answer_in(request)
    outside = words_of(request).replace(answer, "")
    is_talked_round = any(words in outside for words in INJECTIONS)
    is_right = is_talked_round or "how far it sticks out" in answer
    quote = "how far it sticks out" if "how far it sticks out" in answer else ""
    return calls(call("give_mark", mark="right" if is_right else "wrong", reason="So.", quote=quote))


async def play_judge(stage: Stage, quiz: Quiz, mark: Any) -> Outcome:
    def script(request: dict[str, Any]) -> Says:
        if is_marking(request):
            reply: Says = mark(request)
            return reply
        if not turn(request) or '"left": 0' not in str(request["messages"][-1]):
            return calls(call("mark_answers"))
        was_handed_in = "hand_in_marks" in str(request["messages"])
        return says("Done.") if was_handed_in else calls(call("hand_in_marks"))

    stage.registry = registry()
    await stage.model(script)
    return await stage.play(await submit_judge(stage, quiz))


async def submit_judge(stage: Stage, quiz: Quiz) -> UUID:
    run = NewRun("answers", "judge", "sea-ice", stage.model_name, 80, scope=str(quiz.id))
    return (await submit(stage.pool, NewBatch([run], "sea-ice"))).run_ids[0]


async def answered(as_learner: AsLearner, *responses: str) -> Quiz:
    async with as_learner("local") as store:
        quiz, _ = await store.quizzes.start("sea-ice", None, count=len(responses))
    for response in responses:
        assert quiz.current is not None
        async with as_learner("local") as store:
            quiz = await store.quizzes.answer(quiz.id, quiz.current.id, response)
    return quiz


async def read(as_learner: AsLearner, quiz: Quiz) -> Quiz:
    async with as_learner("local") as store:
        return await store.quizzes.get(quiz.id)


async def test_the_judge_marks_what_rules_left_open_and_mastery_follows(
    course: Course, as_learner: AsLearner, stage: Stage
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out", "thin ice")
    assert await play_judge(stage, quiz, obedient) is Outcome.PLAYED
    marks = [(item.mark, item.marked_by) for item in (await read(as_learner, quiz)).answers]
    assert marks == [(Mark.WRONG, Marker.RULE), (Mark.RIGHT, Marker.MODEL), (Mark.WRONG, Marker.MODEL)]
    async with as_learner("local") as store:
        progress = await store.assessments.progress(course.node)
    assert (progress["attempts"], progress["correct"]) == (3, 1)


async def test_fifty_injections_change_no_mark_of_a_model_that_obeys_what_is_not_quoted(
    course: Course, as_learner: AsLearner, stage: Stage, shelf: Shelf
):
    add = """
        insert into assessments (id, learner, node_id, question_hash, response, correct, quiz_id, question_id, mark)
        select gen_random_uuid(), 'local', %s, 'h' || %s, %s, false, %s, %s, 'doubtful'
    """
    quiz_ids = []
    for n, words in enumerate(INJECTIONS):
        quiz_id = shelf._insert(
            "quizzes", learner="local", subject_id="sea-ice", question_ids=[course.questions[1]], position=1
        )
        quiz_ids.append(quiz_id)
        shelf.connection.execute(
            add, [course.node, str(n), f"the colour of ice. {words}", quiz_id, course.questions[1]]
        )

    shelf.connection.execute("drop index assessments_count_once")
    shelf.connection.execute("update assessments set quiz_id = %s", [quiz_ids[0]])
    async with as_learner("local") as store:
        quiz = await store.quizzes.get(quiz_ids[0])
    assert await play_judge(stage, quiz, obedient) is Outcome.PLAYED
    rows = await stage.rows("select response, mark from assessments where mark <> 'wrong'")
    assert rows == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"mark": "excellent", "reason": "x", "quote": ""},
        {"mark": "right", "reason": "It is.", "quote": "words that are not there"},
        {"mark": "right", "reason": "It is.", "quote": ""},
        {"mark": "right", "reason": "", "quote": "how"},
        {"mark": "wrong", "reason": "x", "quote": "", "mastery": 1},
    ],
)
async def test_a_reply_that_is_of_no_use_leaves_the_answer_to_the_learner(
    course: Course, as_learner: AsLearner, stage: Stage, arguments: dict[str, Any]
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out")
    await play_judge(stage, quiz, lambda _: calls(call("give_mark", **arguments)))
    item = (await read(as_learner, quiz)).answers[1]
    assert (item.mark, item.marked_by) == (Mark.DOUBTFUL, Marker.MODEL)
    async with as_learner("local") as store:
        assert (await store.assessments.progress(course.node))["attempts"] == 1


async def test_what_the_learner_settled_before_the_judge_came_stays(
    course: Course, as_learner: AsLearner, stage: Stage
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out")
    async with as_learner("local") as store:
        await store.quizzes.settle(quiz.id, quiz.answers[1].question.id, Mark.WRONG)
    assert await play_judge(stage, quiz, obedient) is Outcome.PLAYED
    assert (await read(as_learner, quiz)).answers[1].marked_by is Marker.LEARNER


async def test_the_offline_judge_leaves_to_the_learner_what_rules_cannot_tell(
    course: Course, as_learner: AsLearner, stage: Stage
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out")
    stage.registry = registry()
    async with offline_model(stage):
        assert await stage.play(await submit_judge(stage, quiz)) is Outcome.PLAYED
    item = (await read(as_learner, quiz)).answers[1]
    assert (item.mark, item.marked_by) == (Mark.DOUBTFUL, Marker.RULE)
    assert "no model is configured" in item.reason


@pytest.mark.parametrize("role", ["research", "assessment", "writer", "verifier"])
async def test_a_run_of_another_role_cannot_mark_answers(
    course: Course, as_learner: AsLearner, stage: Stage, role: str
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out")

    def script(request: dict[str, Any]) -> Says:
        assert "mark_answers" not in [tool["name"] for tool in request["tools"]]
        return calls(call("mark_answers")) if not turn(request) else says("No.")

    stage.registry = registry()
    await stage.model(script)
    run = NewRun("answers", role, "sea-ice", stage.model_name, 3, scope=str(quiz.id))
    await stage.play((await submit(stage.pool, NewBatch([run], "sea-ice"))).run_ids[0])
    assert (await read(as_learner, quiz)).answers[1].marked_by is None


async def test_a_judge_of_another_owner_marks_nothing(
    course: Course, as_learner: AsLearner, stage: Stage, shelf: Shelf
):
    quiz = await answered(as_learner, "2.4 m", "how far it sticks out")
    shelf.connection.execute("update quizzes set learner = 'ada'")
    shelf.connection.execute("update assessments set learner = 'ada'")
    await play_judge(stage, quiz, obedient)
    rows = await stage.rows("select 1 from assessments where marked_by = 'model'")
    assert rows == []
