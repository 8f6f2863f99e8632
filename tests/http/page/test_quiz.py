"""A quiz on the page: forms that post and lead back, for its learner alone."""

import re

import httpx2
import pytest
from support.course import Course
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope


async def test_a_quiz_is_answered_one_question_at_a_time_and_settled(
    client: httpx2.AsyncClient, course: Course, pool: Pool
):
    assert "Ask me" in (await client.get("/quizzes?subject=sea-ice")).text
    started = await client.post("/quizzes", data={"subject": "sea-ice", "count": "2"})
    assert started.status_code == 303
    path = started.headers["location"]
    words = ("<b>2.4 m</b>", "its freeboard")
    for n, response in enumerate(words, start=1):
        html = (await client.get(path)).text
        assert f"{n} of 2" in html
        [question] = re.findall(
            r'name="question_id" value="([^"]+)"', html.partition('id="question"')[2].partition("</form>")[0]
        )
        form = {"question_id": question, "response": response}
        for _ in range(2):  # a form that is sent twice
            answer = await client.post(f"{path}/answers", data=form)
            assert (answer.status_code, answer.headers["location"]) == (303, path)
    html = (await client.get(path)).text
    assert "That was the last question" in html
    assert "&lt;b&gt;2.4 m&lt;/b&gt;" in html
    settled = await client.post(f"{path}/settlements", data={"question_id": question, "mark": "right"})
    assert settled.status_code == 303
    assert "by learner" in (await client.get(path)).text

    secret, _ = await create_key(pool, NewKey("bob", AccessScope.ADMIN, "bob"))
    bob = {"Authorization": f"Bearer {secret}"}
    assert (await client.get(path, headers=bob)).status_code == 404
    assert (await client.post(f"{path}/answers", data=form, headers=bob)).status_code == 404


MARK = "in its fact&#39;s words, meaning unchecked"


async def test_a_key_that_no_model_has_judged_says_so_beside_it(
    client: httpx2.AsyncClient, course: Course, shelf: Shelf
):
    started = await client.post("/quizzes", data={"subject": "sea-ice", "count": "1"})
    path = started.headers["location"]
    [question] = re.findall(r'name="question_id" value="([^"]+)"', (await client.get(path)).text)
    await client.post(f"{path}/answers", data={"question_id": question, "response": "no idea"})
    assert MARK in (await client.get(path)).text
    [answer] = (await client.get(f"/v1{path}")).json()["answers"]
    assert (answer["key_mark"], answer["key_verdict_by"]) == ("in its fact's words, meaning unchecked", "")
    shelf.connection.execute("update questions set verdict_by = 'claude'")
    assert MARK not in (await client.get(path)).text
    [answer] = (await client.get(f"/v1{path}")).json()["answers"]
    assert (answer["key_mark"], answer["key_verdict_by"]) == ("", "claude")


async def test_without_questions_the_page_offers_to_have_them_written(
    client: httpx2.AsyncClient, course: Course, shelf: Shelf
):
    shelf.connection.execute("delete from questions")
    answer = await client.post("/quizzes", data={"subject": "sea-ice"})
    assert answer.status_code == 422
    assert "Have questions written" in answer.text
    ordered = await client.post("/subjects/sea-ice/questions", data={"any": ""})
    assert ordered.headers["location"].startswith("/batches/")


@pytest.mark.parametrize("state", ["failed", "cancelled", "completed"])
async def test_after_a_batch_that_wrote_no_questions_the_page_says_so_and_offers_another(
    client: httpx2.AsyncClient, course: Course, shelf: Shelf, state: str
):
    shelf.connection.execute("delete from questions")
    path = "/subjects/sea-ice/questions"
    former = (await client.post(path, data={"any": ""})).headers["location"]
    waiting = await client.post(path, data={"any": ""})
    assert (waiting.status_code, waiting.headers["location"]) == (303, former)
    shelf.connection.execute("update runs set state = %s, finished_at = now()", [state])
    shelf.connection.execute("update batches set open_runs = 0, finished_at = now()")
    over = await client.post(path, data={"any": ""})
    assert (over.status_code, f'<a href="{former}">a batch</a>' in over.text) == (422, True), over.text
    assert "Have questions written anew" in over.text
    other = await client.post(path, data={"again": "1"})
    assert (other.status_code, other.headers["location"] != former) == (303, True)
