"""Quizzes over HTTP: each learner alone, and the same answer counted once."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from support.course import Course, node_with_facts
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope


async def key_of(pool: Pool, owner: str, scope: AccessScope = AccessScope.SUBMIT) -> dict[str, str]:
    secret, _ = await create_key(pool, NewKey(f"{owner}-{scope}", scope, owner))
    return {"Authorization": f"Bearer {secret}"}


async def post(
    client: httpx2.AsyncClient, path: str, body: Any, headers: dict[str, str] | None = None
) -> httpx2.Response:
    return await client.post(path, json=body, headers=headers)


async def test_a_quiz_goes_from_question_to_question_and_shows_a_key_only_after_the_answer(
    client: httpx2.AsyncClient, course: Course
):
    started = await post(client, "/v1/quizzes", {"subject": "Sea ice", "count": 2})
    assert started.status_code == 201
    quiz = started.json()
    assert started.headers["location"] == f"/v1/quizzes/{quiz['quiz_id']}"
    assert "key" not in quiz["question"]
    body = {"question_id": quiz["question"]["question_id"], "response": "190 cm"}
    after = (await post(client, f"{started.headers['location']}/answers", body)).json()
    assert (after["answers"][0]["mark"], after["answers"][0]["key"]) == ("right", "1.9 m")
    resumed = await post(client, "/v1/quizzes", {"subject": "sea-ice", "count": 2})
    assert (resumed.status_code, resumed.json()["number"]) == (200, 2)
    body = {"question_id": after["question"]["question_id"], "response": "its freeboard"}
    last = (await post(client, f"{started.headers['location']}/answers", body)).json()
    assert (last["state"], last["doubtful"], last["question"]) == ("finished", 1, None)
    settlement = {"question_id": body["question_id"], "mark": "right"}
    settled = await post(client, f"{started.headers['location']}/settlements", settlement)
    assert (settled.json()["right"], settled.json()["answers"][1]["marked_by"]) == (2, "learner")
    assert (await post(client, f"{started.headers['location']}/settlements", settlement)).status_code == 409


async def test_the_same_answer_sent_ten_times_at_once_counts_once(
    client: httpx2.AsyncClient, course: Course, shelf: Shelf
):
    quiz = (await post(client, "/v1/quizzes", {"subject": "sea-ice"})).json()
    body = {"question_id": quiz["question"]["question_id"], "response": "2.4 m"}
    path = f"/v1/quizzes/{quiz['quiz_id']}/answers"
    answers = await asyncio.gather(*(post(client, path, body) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert shelf.connection.execute("select count(*) from assessments").fetchone() == (1,)


async def test_a_quiz_is_its_learners_alone_whatever_the_scope_of_a_key(
    client: httpx2.AsyncClient, course: Course, pool: Pool
):
    ada, bob = await key_of(pool, "ada"), await key_of(pool, "bob", AccessScope.ADMIN)
    quiz = (await post(client, "/v1/quizzes", {"subject": "sea-ice"}, ada)).json()
    path, question = f"/v1/quizzes/{quiz['quiz_id']}", quiz["question"]["question_id"]
    assert (
        await post(client, f"{path}/answers", {"question_id": question, "response": "1.9 m"}, ada)
    ).is_success
    assert (await client.get(path, headers=bob)).status_code == 404
    for verb, field in (("answers", {"response": "1.9 m"}), ("settlements", {"mark": "right"})):
        answer = await post(client, f"{path}/{verb}", {"question_id": question, **field}, bob)
        assert answer.status_code == 404
    progress = await client.post(
        "/v1/tools/get_user_progress", json={"node_id": str(course.node)}, headers=bob
    )
    assert (progress.json()["result"]["attempts"], progress.json()["result"]["history"]) == (0, [])
    own = await client.post("/v1/tools/get_user_progress", json={"node_id": str(course.node)}, headers=ada)
    assert own.json()["result"]["history"][0]["response"] == "1.9 m"


async def answer_all(
    client: httpx2.AsyncClient, headers: dict[str, str] | None = None
) -> tuple[str, dict[str, Any], httpx2.Response]:
    """The address of a quiz of two answers that rules leave open, the last answer, and what came back for it."""
    quiz = (await post(client, "/v1/quizzes", {"subject": "sea-ice", "count": 2}, headers)).json()
    path = f"/v1/quizzes/{quiz['quiz_id']}"
    body = {"question_id": quiz["question"]["question_id"], "response": "nearly two"}
    quiz = (await post(client, f"{path}/answers", body, headers)).json()
    body = {"question_id": quiz["question"]["question_id"], "response": "its freeboard"}
    return path, body, await post(client, f"{path}/answers", body, headers)


async def test_the_last_answer_sent_again_after_a_settlement_counts_as_before(
    client: httpx2.AsyncClient, course: Course, shelf: Shelf, setting: Callable[[str, str], None]
):
    setting("MODEL", "claude-opus-5-5")
    path, last, answer = await answer_all(client)
    assert (answer.status_code, answer.json()["doubtful"]) == (200, 2)
    first = answer.json()["answers"][0]["question_id"]
    settlement = {"question_id": first, "mark": "right"}
    assert (await post(client, f"{path}/settlements", settlement)).is_success
    setting("MAX_TURNS", "7")
    again = await post(client, f"{path}/answers", last)
    assert (again.status_code, again.json()["doubtful"]) == (200, 1)
    form = await client.post(path.removeprefix("/v1") + "/answers", data=last)
    assert form.status_code == 303
    assert shelf.connection.execute("select role from runs").fetchall() == [("judge",)]


async def test_where_the_key_has_no_budget_left_an_answer_counts_and_its_learner_settles_it(
    client: httpx2.AsyncClient,
    course: Course,
    pool: Pool,
    shelf: Shelf,
    setting: Callable[[str, str], None],
):
    setting("MODEL", "claude-opus-5-5")
    secret, _ = await create_key(pool, NewKey("ada", AccessScope.SUBMIT, "ada", budget_usd=Decimal(1)))
    ada = {"Authorization": f"Bearer {secret}"}
    order = {"topics": ["A"], "subject": "S", "model": "claude-opus-5-5"}
    assert (await post(client, "/v1/batches", order, ada)).is_success
    assert (await post(client, "/v1/batches", order, ada)).status_code == 402
    path, last, answer = await answer_all(client, ada)
    assert (answer.status_code, answer.json()["doubtful"]) == (200, 2)
    assert (await post(client, f"{path}/answers", last, ada)).status_code == 200
    settlement = {"question_id": last["question_id"], "mark": "right"}
    assert (await post(client, f"{path}/settlements", settlement, ada)).json()["right"] == 1
    query = "select count(*) from audit where action = 'quizzes.answers'"
    assert shelf.connection.execute(query).fetchone() == (3,)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("of-unknown-price", "The price of of-unknown-price is not known. Set it in CHIRON_PRICES"),
        ("offline", "no model is configured"),
    ],
)
async def test_where_no_model_can_mark_the_answers_say_why(
    client: httpx2.AsyncClient,
    course: Course,
    shelf: Shelf,
    setting: Callable[[str, str], None],
    model: str,
    reason: str,
):
    setting("MODEL", model)
    path, last, answer = await answer_all(client)
    for document in (answer.json(), (await client.get(path)).json()):
        doubtful = [item for item in document["answers"] if item["mark"] == "doubtful"]
        assert len(doubtful) == 2
        assert all(item["marked_by"] == "rule" and reason in item["reason"] for item in doubtful)
    assert reason in (await client.get(path.removeprefix("/v1"), headers={"Accept": "text/html"})).text
    assert shelf.connection.execute("select count(*) from runs").fetchone() == (0,)
    settlement = {"question_id": last["question_id"], "mark": "right"}
    assert (await post(client, f"{path}/settlements", settlement)).json()["right"] == 1


async def test_without_questions_a_quiz_is_refused_and_questions_are_ordered_once(
    client: httpx2.AsyncClient, shelf: Shelf
):
    node, _ = node_with_facts(shelf)
    refused = await post(client, "/v1/quizzes", {"subject": "sea-ice"})
    assert refused.status_code == 409
    assert "/v1/subjects/sea-ice/questions" in refused.json()["detail"]
    shelf.subject("tides", "Tides")
    other = shelf.node("tides", "Springs")
    for unknown in (uuid4(), other):
        answer = await post(client, "/v1/quizzes", {"subject": "sea-ice", "node_id": str(unknown)})
        assert answer.status_code == 404
    ordered = await post(client, "/v1/subjects/sea-ice/questions", {"node_id": str(node), "model": "offline"})
    assert ordered.status_code == 202
    again = await post(client, "/v1/subjects/sea-ice/questions", {"model": "offline"})
    assert (again.json()["batch_id"], again.json()["is_new"]) == (ordered.json()["batch_id"], False)
    row = shelf.connection.execute("select role, scope from runs").fetchone()
    assert row == ("assessment", f"node:{node}")
