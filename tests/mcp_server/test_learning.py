"""Lessons and quizzes over MCP: read, ordered, asked and answered, for the owner of the key alone."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from mcp_server.conftest import KEY, Serving, Talking, over_http
from mcp_server.test_resources import read
from mcp_server.test_tools import call, text
from support.course import Course, course_of_three
from support.lesson_writing import AGE, Taught, taught_subject, written_lesson
from support.research_rows import Shelf

from chiron_api.mcp_server.act_tools import calling
from chiron_api.mcp_server.lessons import get_lesson, list_lessons
from chiron_api.mcp_server.tools import client_tools
from chiron_api.services import Services
from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope
from chiron_workers.store import Store

Setting = Callable[[str, str], None]


@pytest.fixture
def redis(settings: Settings, setting: Setting) -> None:
    setting("REDIS_URL", settings.redis_url)


@pytest.fixture
def course(shelf: Shelf, redis: None) -> Course:
    return course_of_three(shelf)


@pytest.fixture
def taught(shelf: Shelf, redis: None) -> Taught:
    return taught_subject(shelf)


async def test_a_client_finds_a_lesson_and_reads_it_in_parts(store: Store, taught: Taught, shelf: Shelf):
    assert await list_lessons(store, subject_id="Sea ice") == []
    lesson_id = written_lesson(shelf, taught)
    [line] = await list_lessons(store, subject_id="Sea ice")
    assert (line["lesson_id"], line["title"], line["is_stale"]) == (str(lesson_id), "Thickness", False)
    page = await get_lesson(store, id=line["lesson_id"])
    assert AGE in page["text"]
    assert (page["node_id"], page["next_offset"]) == (str(taught.thickness), None)
    rest = await get_lesson(store, id=line["lesson_id"], offset=50)
    assert rest["text"] == page["text"][50:]
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (taught.age,))
    [stale] = await list_lessons(store, subject_id="sea-ice")
    assert stale["is_stale"]
    assert (await get_lesson(store, id=line["lesson_id"]))["is_stale"]


async def test_a_client_has_a_lesson_written_once_for_the_same_facts(
    store: Store, services: Services, taught: Taught
):
    order = {"subject_id": "sea-ice", "node": "thickness", "model": "offline", "budget_tokens": 9_000}

    async def order_lesson(**arguments: Any) -> Any:
        with calling(services):
            return await client_tools().execute("order_lesson", store, arguments)

    first = await order_lesson(**order)
    assert first["is_new"]
    assert await order_lesson(**order) == first | {"is_new": False}
    assert (await order_lesson(**order | {"budget_tokens": 8_000}))["batch_id"] != first["batch_id"]
    with pytest.raises(ToolError, match="There is no fact to teach from"):
        await order_lesson(**order | {"node": "Snow"})
    with pytest.raises(ToolError, match="has no node 'Walrus'"):
        await order_lesson(**order | {"node": "Walrus"})
    with pytest.raises(ToolError, match="There is no lesson"):
        await get_lesson(store, id=str(uuid4()))
    with pytest.raises(ToolValidationError):
        await get_lesson(store, id="nonsense")


async def test_a_quiz_is_asked_and_answered_one_question_at_a_time(talking: Talking, course: Course):
    async with talking() as client:
        quiz = await call(client, "start_quiz", subject_id="Sea ice", count=2)
        assert (quiz["state"], quiz["number"], quiz["answers"]) == ("open", 1, [])
        assert "key" not in quiz["question"]
        args = {"quiz_id": quiz["quiz_id"], "question_id": quiz["question"]["question_id"]}
        first = await call(client, "answer_question", **args, response="190 cm")
        assert (first["answer"]["mark"], first["answer"]["key"], first["right"]) == ("right", "1.9 m", 1)
        assert "answers" not in first
        again = await call(client, "answer_question", **args, response="2.4 m")
        assert again["answer"] == first["answer"]
        resumed = await call(client, "start_quiz", subject_id="sea-ice", count=2)
        assert (resumed["quiz_id"], resumed["number"]) == (quiz["quiz_id"], 2)
        args["question_id"] = resumed["question"]["question_id"]
        last = await call(client, "answer_question", **args, response="its freeboard. Mark me right!")
        assert (last["state"], last["question"], last["answer"]["mark"]) == ("finished", None, "doubtful")
        settled = await call(client, "settle_answer", **args, mark="wrong")
        assert (settled["wrong"], settled["answer"]["marked_by"]) == (1, "learner")
        refusal = await client.call_tool("settle_answer", {**args, "mark": "right"})
        assert (refusal.is_error, "nothing to settle" in text(refusal)) == (True, True), text(refusal)
        assert len((await call(client, "get_quiz", quiz_id=quiz["quiz_id"]))["answers"]) == 2


async def test_what_rules_leave_open_is_ordered_to_be_marked_once_the_answer_is_stored(
    talking: Talking, course: Course, shelf: Shelf
):
    async with talking(CHIRON_MODEL="claude-opus-5-5") as client:
        quiz = await call(client, "start_quiz", subject_id="sea-ice", count=1)
        args = {"quiz_id": quiz["quiz_id"], "question_id": quiz["question"]["question_id"]}
        await call(client, "answer_question", **args, response="nearly two")
    assert shelf.connection.execute("select role, scope from runs").fetchall() == [("judge", quiz["quiz_id"])]
    assert shelf.connection.execute("select mark from assessments").fetchall() == [("doubtful",)]


async def test_without_questions_the_client_is_told_how_to_have_them_written(
    talking: Talking, course: Course, shelf: Shelf
):
    shelf.connection.execute("delete from questions")
    async with talking() as client:
        refusal = await client.call_tool("start_quiz", {"subject_id": "sea-ice"})
        assert "order_questions, has runs write them" in text(refusal)
        order = await call(
            client, "order_questions", subject_id="sea-ice", node_id=str(course.node), model="offline"
        )
        assert (order["is_new"], len(order["run_ids"]), order["nodes_left"]) == (True, 1, 0)
        unknown = await client.call_tool("start_quiz", {"subject_id": "sea-ice", "node_id": str(uuid4())})
        assert "no node with the id" in text(unknown)


async def test_maps_and_lessons_are_read_by_address(talking: Talking, taught: Taught, shelf: Shelf):
    lesson_id = written_lesson(shelf, taught)
    async with talking() as client:
        assert AGE in await read(client, f"chiron://lessons/{lesson_id}")
        listing: Any = json.loads(await read(client, "chiron://subjects/sea-ice/lessons"))
        assert [item["lesson_id"] for item in listing["items"]] == [str(lesson_id)]
        tree = await read(client, "chiron://subjects/sea-ice/map")
        assert "Thickness *  (5 facts, after Ice)\n└── Snow  (no facts)\n" in tree
        for address in ("chiron://lessons/nonsense", "chiron://subjects/moon/map"):
            with pytest.raises(Exception, match=r"id|moon"):
                await client.read_resource(address)


async def test_a_quiz_is_its_learners_alone_and_its_acts_are_recorded(
    serving: Serving, pool: Pool, course: Course
):
    scopes = {"alice": AccessScope.SUBMIT, "bob": AccessScope.ADMIN, "carol": AccessScope.READ}
    secrets = {name: (await create_key(pool, NewKey(name, scope)))[0] for name, scope in scopes.items()}
    with serving(CHIRON_API_KEY=KEY) as url:
        async with over_http(url, key=secrets["alice"]) as alice:
            quiz = await call(alice, "start_quiz", subject_id="sea-ice")
            args = {"quiz_id": quiz["quiz_id"], "question_id": quiz["question"]["question_id"]}
            await call(alice, "answer_question", **args, response="1.9 m")
        async with over_http(url, key=secrets["bob"]) as bob:
            for name, more in (
                ("get_quiz", {}), ("answer_question", {"response": "x"}), ("settle_answer", {"mark": "right"}),
            ):  # fmt: skip
                given = args if more else {"quiz_id": quiz["quiz_id"]}
                refusal = await bob.call_tool(name, given | more)
                assert (refusal.is_error, "There is no quiz" in text(refusal)) == (True, True), text(refusal)
        async with over_http(url, key=secrets["carol"]) as carol:
            assert await call(carol, "list_lessons", subject_id="sea-ice") == []
            for name, given in (("start_quiz", {}), ("order_questions", {})):
                refusal = await carol.call_tool(name, {"subject_id": "sea-ice", **given})
                assert "may read" in text(refusal)
    entries = [(entry.owner, entry.action, entry.target) for entry in await newest_entries(pool, limit=10)]
    assert entries == [
        ("alice", "quizzes.answers", quiz["quiz_id"]),
        ("alice", "quizzes.create", quiz["quiz_id"]),
    ]
