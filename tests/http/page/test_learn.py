"""The Learn view: what a learner knows, what comes next, and forms that post and lead back."""

import re
from uuid import UUID

import httpx2
import pytest
from support.course import Course
from support.lesson_writing import taught_subject, written_lesson
from support.played_course import Player
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.coverage.curricula import Curricula, Entry
from chiron_workers.knowledge.coverage.nodes import draft
from chiron_workers.knowledge.coverage.proposals import Proposals
from chiron_workers.learning.orchestrator import advance_due
from chiron_workers.runs.session import Session
from chiron_workers.states import AccessScope

PATH = "/subjects/sea-ice/learn"
HOSTILE = "<script>alert(1)</script> \"'><img src=x> مرحبا \u202eabc"


async def text_of(client: httpx2.AsyncClient, path: str = PATH, **headers: str) -> str:
    answer = await client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


def words_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


async def answer_first(client: httpx2.AsyncClient, response: str, **headers: str) -> None:
    quiz = (await client.post("/v1/quizzes", json={"subject": "sea-ice"}, headers=headers)).json()
    body = {"question_id": quiz["question"]["question_id"], "response": response}
    await client.post(f"/v1/quizzes/{quiz['quiz_id']}/answers", json=body, headers=headers)


async def test_a_subject_without_a_map_asks_for_a_goal_and_has_it_mapped(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("sea-ice", "Sea ice")
    page = await text_of(client)
    assert "There is no map yet" in page
    assert "Begin to learn" in page
    assert 'formaction="/subjects/sea-ice/curriculum"' in page
    form = {"goal": "Judge what satellites say.", "depth": "expert", "budget_usd": ""}
    ordered = await client.post("/subjects/sea-ice/curriculum", data=form)
    assert (ordered.status_code, ordered.headers["location"][:9]) == (303, "/batches/")
    page = await text_of(client)
    assert "Judge what satellites say." in page
    assert f'<a href="{ordered.headers["location"]}"' in page  # it is under way
    assert shelf.connection.execute("select role, topic from runs").fetchall() == [
        ("curriculum", form["goal"])
    ]


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("curriculum", {"goal": " "}, "goal: String should have at least 1 character"),
        (
            "curriculum",
            {"goal": "Kept & shown", "depth": "x" * 101},
            "depth: String should have at most 100 characters",
        ),
        (
            "curriculum",
            {"goal": "Kept & shown", "budget_usd": "much"},
            "budget_usd: an amount of USD above 0, such as 2.5",
        ),
        ("journey", {"goal": " "}, "goal: String should have at least 1 character"),
        ("research", {"topics_max": "-1"}, "topics_max: Input should be greater than or equal to 1"),
    ],
)
async def test_what_is_wrong_in_a_form_is_said_in_it_and_what_was_written_stays(
    client: httpx2.AsyncClient, course: Course, path: str, fields: dict[str, str], words: str
):
    answer = await client.post(f"/subjects/sea-ice/{path}", data=fields)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert ("Kept &amp; shown" in answer.text) == (fields.get("goal") == "Kept & shown")


async def test_mastery_and_what_is_due_are_those_of_whoever_looks(
    client: httpx2.AsyncClient, course: Course, pool: Pool, shelf: Shelf
):
    secret, _ = await create_key(pool, NewKey("ada", AccessScope.SUBMIT, "ada"))
    ada = {"Authorization": f"Bearer {secret}"}
    await answer_first(client, "1.9 m", **ada)
    mine, other = words_of(await text_of(client, **ada)), words_of(await text_of(client))
    assert "60 %" in mine
    assert "60 %" not in other
    assert "Have a lesson written" in mine
    shelf.connection.execute("update review_cards set due_at = now() - interval '1 hour'")
    due = words_of(await text_of(client, **ada))
    assert "1 question on Thickness is due for review" in due
    assert "1 due" in due
    assert "is due for review" not in words_of(await text_of(client))
    quiz = await client.post("/quizzes", data={"subject": "sea-ice"}, headers=ada)
    assert quiz.headers["location"].startswith("/quizzes/")


async def test_what_comes_next_leads_from_an_order_over_a_lesson_to_one_that_is_stale(
    client: httpx2.AsyncClient, shelf: Shelf
):
    taught = taught_subject(shelf)
    page = await text_of(client)
    assert "Thickness is next: 5 facts to teach from" in words_of(page)
    lesson_id = written_lesson(shelf, taught)
    assert "Read the lesson on Thickness , and answer questions" in words_of(await text_of(client))
    assert f'href="/lessons/{lesson_id}"' in await text_of(client)
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (taught.age,))
    stale = await text_of(client)
    assert "The lesson on Thickness is stale" in words_of(stale)
    assert 'name="again" value="1"' in stale
    node = await text_of(client, f"{PATH}?node={taught.thickness}")
    assert "Read the lesson, which is stale" in node
    assert "Know first" in node
    empty = words_of(await text_of(client, f"{PATH}?node={taught.snow}"))
    assert "no facts yet" in empty


async def test_a_round_of_research_begins_or_says_why_it_does_not(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    async with Session(pool) as session:
        await Curricula(session).save("sea-ice", [Entry("Ice", "All.", is_goal_critical=True)])
    assert "1 node of the way to the goal lacks facts" in words_of(await text_of(client))
    form = {"facts_min": "2", "topics_max": "5", "budget_usd": ""}
    begun = await client.post("/subjects/sea-ice/research", data=form)
    assert (begun.status_code, begun.headers["location"][:9]) == (303, "/batches/")
    again = await client.post("/subjects/sea-ice/research", data=form)
    assert again.headers["location"] == f"{PATH}?round=running#research"
    assert "A round is under way" in await text_of(client, f"{PATH}?round=running")
    assert (await client.get(f"{PATH}?round=odd")).status_code == 422


async def test_a_proposal_is_decided_with_its_reason(client: httpx2.AsyncClient, pool: Pool, shelf: Shelf):
    async with Session(pool) as session:
        await Curricula(session).save("sea-ice", [Entry("Ice", "All.", is_goal_critical=True)])
        node = draft(subject_id="sea-ice", title="Snow <b>", description="What lies on it.")
        proposal = (await Proposals(session).propose_node(node, reason="A page says so."))["proposal_id"]
    page = await text_of(client)
    assert "Snow &lt;b&gt;" in page
    assert "A page says so." in page
    path = f"/proposals/{proposal}/decide"
    assert (await client.post(path, data={"accept": "perhaps", "reason": "x"})).status_code == 422
    assert (await client.post(path, data={"accept": "true", "reason": " "})).status_code == 422
    decided = await client.post(path, data={"accept": "true", "reason": "It belongs here."})
    assert (decided.status_code, decided.headers["location"]) == (303, f"{PATH}#proposals")
    page = await text_of(client)
    assert "It belongs here." in page
    assert "Nothing to decide" in page
    assert (await client.post(path, data={"accept": "false", "reason": "x"})).status_code == 409
    [entry] = shelf.connection.execute("select action, target from audit").fetchall()
    assert entry == ("proposals.decide", proposal)


async def test_nothing_that_strangers_wrote_becomes_markup(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    shelf.subject("sea-ice", HOSTILE, HOSTILE)
    async with Session(pool) as session:
        await Curricula(session).save("sea-ice", [Entry(HOSTILE, HOSTILE, is_goal_critical=True)])
        node = draft(subject_id="sea-ice", title=f"{HOSTILE} 2", description="x")
        await Proposals(session).propose_node(node, reason=HOSTILE)
    [(node_id,)] = shelf.connection.execute("select id from nodes").fetchall()
    for path in (PATH, f"{PATH}?node={node_id}", f"{PATH}?node={HOSTILE[:30]}"):
        page = await text_of(client, path)
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert " style=" not in page
    assert UUID(str(node_id))


async def test_a_long_map_comes_in_pages(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("sea-ice", "Sea ice")
    for n in range(90):
        shelf.node("sea-ice", f"Node {n:02}")
    first, last = await text_of(client), await text_of(client, f"{PATH}?page=99")
    assert "Page 1 of 3" in first
    assert "Page 3 of 3" in last
    assert "Node 89" in last.partition('id="nodes"')[2]
    assert "Node 89" not in first.partition('id="nodes"')[2]


async def test_a_journey_is_begun_read_and_answered_on_the_page(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    player = Player(pool, shelf)
    shelf.subject("moon", "Moon")
    path = "/subjects/moon/learn"
    form = {"goal": "Understand why it does not fall.", "depth": "practical", "budget_usd": ""}
    begun = await client.post("/subjects/moon/journey", data=form)
    assert (begun.status_code, begun.headers["location"]) == (303, path)
    page = await text_of(client, path)
    assert '<li aria-current="step">initializing</li>' in page
    assert "A run draws the map up; then research fills it." in page
    assert "Follow the batch" in page
    other = await client.post("/subjects/moon/journey", data=form | {"goal": "Sail."})
    assert (other.status_code, "under way to the goal" in other.text) == (422, True)
    for _ in range(30):
        await advance_due(pool)
        await player.play_all()
    page = await text_of(client, path)
    assert '<li aria-current="step">delivering lesson</li>' in page
    assert "The lesson on Gravity waits for you" in page
    assert "Read the lesson" in page
    [action] = re.findall(r'action="(/journeys/[^"]+/read)"', page)
    [lesson] = set(re.findall(r'href="(/lessons/[^"]+)"', page))
    assert f'action="{action}"' in await text_of(client, lesson)
    read = await client.post(action, data={"any": ""})
    assert read.headers["location"].startswith("/quizzes/")
    assert "Answer the questions" in await text_of(client, path)
    assert action not in await text_of(client, lesson)
    assert (await client.post(action, data={"any": ""})).status_code == 409


async def test_a_journey_is_stopped_and_gone_on_with_on_the_page_by_its_learner_alone(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    shelf.subject("moon", "Moon")
    path = "/subjects/moon/learn"
    await client.post("/subjects/moon/journey", data={"goal": "Understand why it does not fall."})
    [action] = re.findall(r'action="(/journeys/[^"]+/stop)"', await text_of(client, path))
    secret, _ = await create_key(pool, NewKey("bob", AccessScope.ADMIN, "bob"))
    bob = {"Authorization": f"Bearer {secret}"}
    assert (await client.post(action, data={"any": ""}, headers=bob)).status_code == 404
    assert "/stop" not in await text_of(client, path, **bob)
    assert (await client.post(action, data={"any": ""})).headers["location"] == path
    page = await text_of(client, path)
    assert "state cancelled" in page
    assert '<li class="held">initializing</li>' in page
    resumed = await client.post(action.replace("stop", "resume"), data={"budget_usd": "3"})
    assert resumed.headers["location"] == path
    page = await text_of(client, path)
    assert '<li aria-current="step">initializing</li>' in page
    assert "of $3.00" in page
