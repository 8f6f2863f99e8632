"""Learning over HTTP: from a goal to a map, rounds of research, proposals, and what a learner knows."""

from decimal import Decimal
from uuid import UUID, uuid4

import httpx2
import pytest
from support.course import course_of_three
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.coverage.curricula import Curricula, Entry
from chiron_workers.knowledge.coverage.nodes import draft
from chiron_workers.knowledge.coverage.proposals import Change, Proposals
from chiron_workers.runs.session import Session
from chiron_workers.states import AccessScope, ProposalKind

GOAL = {"goal": "Judge what satellites say of sea ice.", "model": "offline"}
ENTRIES = (
    Entry("Thickness", "How thick it is.", is_goal_critical=True, prerequisites=("Freeboard",)),
    Entry("Freeboard", "What stands above the water.", parent="Thickness"),
)
CURRICULUM = "/v1/subjects/Sea%20ice/curriculum"


async def key_of(pool: Pool, owner: str) -> dict[str, str]:
    secret, _ = await create_key(pool, NewKey(owner, AccessScope.SUBMIT, owner))
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
async def mapped(pool: Pool) -> dict[str, str]:
    """The ids of the nodes of a map, by title."""
    async with Session(pool) as session:
        await Curricula(session).save("sea-ice", ENTRIES)
    rows = await Session(pool).rows("select id::text, title from nodes")
    return {row["title"]: row["id"] for row in rows}


async def propose(pool: Pool, title: str = "Snow") -> str:
    async with Session(pool) as session:
        node = draft(subject_id="sea-ice", title=title, description="What lies on it.")
        receipt = await Proposals(session).propose_node(node, reason="A page says so.")
    return receipt["proposal_id"]


async def test_a_goal_is_mapped_by_one_batch_however_often_it_is_sent(
    client: httpx2.AsyncClient, shelf: Shelf
):
    first = await client.post(CURRICULUM, json=GOAL)
    assert (first.status_code, first.json()["subject_id"], first.json()["is_new"]) == (202, "sea-ice", True)
    assert first.headers["location"] == f"/v1/batches/{first.json()['batch_id']}"
    again = await client.post(CURRICULUM, json=GOAL)
    assert again.json() == first.json() | {"is_new": False}
    deeper = await client.post(CURRICULUM, json=GOAL | {"depth": "expert"})
    assert deeper.json()["is_new"]
    subject = (await client.get("/v1/subjects/sea-ice")).json()
    assert (subject["title"], subject["target_depth"]) == ("Sea ice", "expert")
    rows = shelf.connection.execute("select role, topic from runs").fetchall()
    assert rows == [("curriculum", GOAL["goal"])] * 2


async def test_under_an_idempotency_key_one_goal_is_mapped_again_once_and_another_is_refused(
    client: httpx2.AsyncClient,
):
    key, fresh = {"Idempotency-Key": "k" * 200}, GOAL | {"again": True}
    batches = [(await client.post(CURRICULUM, json=fresh, headers=key)).json()["batch_id"] for _ in range(2)]
    assert batches[0] == batches[1]
    other = await client.post(CURRICULUM, json=fresh)
    assert other.json()["batch_id"] != batches[0]
    await client.post("/v1/batches", json={"topics": ["A"], "subject": "S", "model": "offline"}, headers=key)
    for change in ({"goal": "Sail."}, {"depth": "expert"}, {"budget_usd": 2}):
        refused = await client.post(CURRICULUM, json=fresh | change, headers=key)
        assert refused.status_code == 422
        assert "was used for another goal, depth, model or budget" in refused.json()["detail"]
    subject = (await client.get("/v1/subjects/sea-ice")).json()
    assert (subject["purpose_statement"], subject["target_depth"]) == (GOAL["goal"], "practical")


async def test_a_goal_that_is_refused_changes_nothing(client: httpx2.AsyncClient, pool: Pool, shelf: Shelf):
    await client.post(CURRICULUM, json=GOAL)
    for body, words in (
        ({"goal": " "}, "The goal is empty"),
        ({"goal": "x", "depth": "\0"}, "The depth is no text"),
        ({"goal": "x" * 3_001}, "at most 3000 characters"),
        ({"goal": "x", "model": "nobody-knows-this", "budget_usd": 1}, "price"),
        ({}, "goal"),
    ):
        refused = await client.post(CURRICULUM, json=GOAL | {"goal": None} | body if body else {})
        assert (refused.status_code, words in refused.json()["detail"]) == (422, True), refused.text
    assert (await client.post("/v1/subjects/!!/curriculum", json=GOAL)).status_code == 422
    poor, _ = await create_key(pool, NewKey("eve", AccessScope.SUBMIT, "eve", budget_usd=Decimal("0.01")))
    spent = {"Authorization": f"Bearer {poor}"}
    order = {"topics": ["A"], "subject": "S", "model": "claude-opus-5-5"}
    assert (
        await client.post("/v1/batches", json=order, headers=spent)
    ).is_success  # it takes all that is left
    body = {"goal": "Sail.", "model": "claude-opus-5-5"}
    assert (await client.post(CURRICULUM, json=body, headers=spent)).status_code == 402
    assert shelf.connection.execute(
        "select purpose_statement from subjects order by purpose_statement"
    ).fetchall() == [(GOAL["goal"],), (None,)]


async def test_a_map_is_read_nested_with_its_facts_as_a_flowchart_and_as_a_tree(
    client: httpx2.AsyncClient, mapped: dict[str, str], shelf: Shelf
):
    shelf.fact("sea-ice", "It is 1.9 m thick.", "https://example.org/", path="thickness")
    document = (await client.get("/v1/subjects/Sea ice/map")).json()
    [top] = document["tops"]
    assert (top["title"], [node["title"] for node in top["children"]]) == ("Thickness", ["Freeboard"])
    assert document["facts"][mapped["Thickness"]] == 1
    mermaid = await client.get("/v1/subjects/sea-ice/map?format=mermaid")
    assert mermaid.headers["content-type"].startswith("text/vnd.mermaid")
    assert mermaid.text.startswith('flowchart TD\n  n1(["Thickness<br/>1 fact"])')
    tree = await client.get("/v1/subjects/sea-ice/map?format=tree")
    assert tree.text == "Thickness *  (1 fact, after Freeboard)\n└── Freeboard  (no facts)\n"
    assert (await client.get("/v1/subjects/moon/map")).status_code == 404
    assert (await client.get("/v1/subjects/sea-ice/map?format=png")).status_code == 422


async def test_a_round_of_research_is_begun_and_answers_how_it_stands(
    client: httpx2.AsyncClient, mapped: dict[str, str], shelf: Shelf
):
    path = "/v1/subjects/sea-ice/research"
    started = await client.post(path, json={"model": "offline", "topics_max": 1})
    assert (started.status_code, started.json()["state"]) == (202, "submitted")
    assert started.headers["location"] == f"/v1/batches/{started.json()['batches'][0]['batch_id']}"
    assert (started.json()["topics"], started.json()["gaps"]) == (["Freeboard"], ["Freeboard", "Thickness"])
    running = await client.post(path, json={"topics_max": 1})
    assert (running.status_code, running.json()["state"], running.json()["batches"]) == (200, "running", [])
    assert "location" not in running.headers
    for title in mapped:
        for n in range(2):
            shelf.fact("sea-ice", f"{title} is {n}.", f"https://site{n}.example/{title}", path=title.lower())
    shelf.connection.execute("update runs set state = 'completed', finished_at = now()")
    covered = await client.post(path, json={"facts_min": 2})
    assert (covered.status_code, covered.json()["state"], covered.json()["gaps"]) == (200, "covered", [])
    shelf.subject("moon")
    assert (await client.post("/v1/subjects/moon/research")).json()["state"] == "unmapped"
    assert (await client.post("/v1/subjects/sun/research")).status_code == 404
    assert (await client.post(path, json={"facts_min": 0})).status_code == 422


async def test_proposals_are_listed_and_decided_once(
    client: httpx2.AsyncClient, mapped: dict[str, str], pool: Pool
):
    first, second = await propose(pool), await propose(pool, "Salt")
    listing = (await client.get("/v1/subjects/sea-ice/proposals")).json()["items"]
    assert [item["proposal_id"] for item in listing] == [second, first]
    path = f"/v1/proposals/{first}/decide"
    for body in ({"accept": True}, {"accept": "yes", "reason": "x"}, {"accept": True, "reason": " "}):
        assert (await client.post(path, json=body)).status_code == 422
    accepted = await client.post(path, json={"accept": True, "reason": "It belongs here."})
    assert (accepted.status_code, accepted.json()["state"]) == (200, "accepted")
    assert (accepted.json()["decided_by"], accepted.json()["decision_reason"]) == (
        "local",
        "It belongs here.",
    )
    late = await client.post(path, json={"accept": False, "reason": "No."})
    assert (late.status_code, "accepted already" in late.json()["detail"]) == (409, True)
    unknown = await client.post(f"/v1/proposals/{uuid4()}/decide", json={"accept": True, "reason": "x"})
    assert unknown.status_code == 404
    left = (await client.get("/v1/subjects/sea-ice/proposals?state=open")).json()["items"]
    assert [item["title"] for item in left] == ["Salt"]
    tree = (await client.get("/v1/subjects/sea-ice/map?format=tree")).text
    assert "Snow" in tree
    assert "Salt" not in tree


async def test_what_the_map_forbids_stays_open(
    client: httpx2.AsyncClient, mapped: dict[str, str], pool: Pool
):
    change = Change(ProposalKind.PREREQUISITE, UUID(mapped["Freeboard"]), UUID(mapped["Thickness"]))
    async with Session(pool) as session:
        proposal = await Proposals(session).propose(change, reason="A page says so.")
    path = f"/v1/proposals/{proposal['proposal_id']}/decide"
    refused = await client.post(path, json={"accept": True, "reason": "x"})
    assert (refused.status_code, "circle" in refused.json()["detail"]) == (409, True)
    left = (await client.get("/v1/subjects/sea-ice/proposals?state=open")).json()["items"]
    assert len(left) == 1


async def test_each_act_has_one_entry_in_the_trail_in_the_transaction_that_does_it(
    client: httpx2.AsyncClient, mapped: dict[str, str], pool: Pool, shelf: Shelf
):
    proposal = await propose(pool)
    acts = {
        "curricula.order": (CURRICULUM, GOAL),
        "subjects.research": ("/v1/subjects/sea-ice/research", {"model": "offline"}),
        "proposals.decide": (f"/v1/proposals/{proposal}/decide", {"accept": True, "reason": "x"}),
    }
    made = "select (select count(*) from batches), (select count(*) from nodes)"
    query = "select action, target from audit order by id"
    before = shelf.connection.execute(made).fetchone()
    shelf.connection.execute("alter table audit add constraint closed check (false) not valid")
    for path, body in acts.values():
        assert (await client.post(path, json=body)).status_code == 500
    assert shelf.connection.execute(made).fetchone() == before
    assert shelf.connection.execute(
        "select count(*) from node_proposals where state = 'open'"
    ).fetchone() == (1,)
    shelf.connection.execute("alter table audit drop constraint closed")
    for path, body in acts.values():
        assert (await client.post(path, json=body)).is_success
    entries = dict(shelf.connection.execute(query).fetchall())
    assert entries == {
        "curricula.order": "Sea ice",
        "subjects.research": "sea-ice",
        "proposals.decide": proposal,
    }
    assert shelf.connection.execute("select count(*) from audit").fetchone() == (3,)


async def test_what_a_learner_knows_and_what_is_due_is_there_for_that_learner_alone(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    course = course_of_three(shelf)
    ada, bob = await key_of(pool, "ada"), await key_of(pool, "bob")
    quiz = (await client.post("/v1/quizzes", json={"subject": "sea-ice"}, headers=ada)).json()
    answer = {"question_id": quiz["question"]["question_id"], "response": "1.9 m"}
    await client.post(f"/v1/quizzes/{quiz['quiz_id']}/answers", json=answer, headers=ada)
    path = "/v1/subjects/sea-ice/progress"
    [own] = (await client.get(path, headers=ada)).json()["items"]
    [other] = (await client.get(path, headers=bob)).json()["items"]
    assert (own["node_id"], own["attempts"], own["questions"], own["due"]) == (str(course.node), 1, 3, 0)
    assert own["mastery"] > other["mastery"] == 0.2
    assert (other["attempts"], other["next_review"]) == (0, None)
    tool = await client.post("/v1/tools/get_user_progress", json={"node_id": str(course.node)}, headers=ada)
    assert tool.json()["result"]["mastery"] == own["mastery"]
    shelf.connection.execute("update review_cards set due_at = now() - interval '1 day'")
    assert (await client.get(path, headers=ada)).json()["items"][0]["due"] == 1
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (course.facts[0],))
    [fallen] = (await client.get(path, headers=ada)).json()["items"]
    assert (fallen["questions"], fallen["due"], fallen["attempts"]) == (2, 0, 1)
