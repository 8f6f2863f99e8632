"""Journeys over HTTP: begun, read, stopped and gone on with, for their learner alone."""

from decimal import Decimal
from typing import Any

import httpx2
import pytest
from support.played_course import Player
from support.research_rows import Shelf

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.learning.orchestrator import advance_due
from chiron_workers.states import AccessScope

PATH = "/v1/subjects/Moon/journey"
GOAL: dict[str, Any] = {"goal": "Understand why the Moon does not fall.", "facts_min": 2, "model": "offline"}


@pytest.fixture
def player(pool: Pool, shelf: Shelf) -> Player:
    return Player(pool, shelf)


async def work(player: Player) -> None:
    """What workers do until something waits for the learner."""
    for _ in range(30):
        await advance_due(player.pool)
        await player.play_all()


async def test_a_learner_goes_from_a_goal_over_a_lesson_to_its_questions(
    client: httpx2.AsyncClient, player: Player
):
    begun = await client.post(PATH, json=GOAL)
    assert (begun.status_code, begun.headers["location"]) == (202, "/v1/subjects/moon/journey")
    journey = begun.json()
    assert (journey["state"], len(journey["batches"])) == ("initializing", 1)
    assert (await client.post(PATH, json=GOAL)).status_code == 200
    other = await client.post(PATH, json=GOAL | {"goal": "Sail."})
    assert (other.status_code, "under way to the goal" in other.json()["detail"]) == (409, True)
    path = f"/v1/journeys/{journey['journey_id']}"
    assert (await client.post(f"{path}/read")).status_code == 409
    await work(player)
    waiting = (await client.get(begun.headers["location"])).json()
    assert (waiting["state"], waiting["node"]) == ("delivering_lesson", "Gravity")
    assert waiting["next_step"].startswith("The lesson on Gravity waits for you")
    assert [node["title"] for node in waiting["way"]] == ["Gravity", "Orbit"]
    read = (await client.post(f"{path}/read")).json()
    assert read["state"] == "exercising"
    quiz = (await client.get(f"/v1/quizzes/{read['quiz_id']}")).json()
    assert quiz["state"] == "open"
    assert [item["journey_id"] for item in (await client.get("/v1/journeys")).json()["items"]] == [
        journey["journey_id"]
    ]


async def test_a_journey_is_stopped_with_what_it_has_under_way_and_goes_on(
    client: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    journey = (await client.post(PATH, json=GOAL)).json()
    path = f"/v1/journeys/{journey['journey_id']}"
    assert (await client.post(f"{path}/resume")).status_code == 409
    stopped = (await client.post(f"{path}/stop")).json()
    assert (stopped["state"], stopped["event"], stopped["held_state"]) == (
        "idle", "cancelled", "initializing",
    )  # fmt: skip
    assert shelf.connection.execute("select state from runs").fetchall() == [("cancelled",)]
    assert (await client.post(f"{path}/stop")).status_code == 409
    resumed = (await client.post(f"{path}/resume", json={"budget_usd": 3})).json()
    assert (resumed["state"], resumed["budget_usd"]) == ("initializing", 3)
    actions = {entry.action for entry in await newest_entries(pool, limit=20)}
    assert {"journeys.start", "journeys.stop", "journeys.resume"} <= actions


async def test_a_journey_is_its_learners_alone_whatever_the_scope_of_a_key(
    client: httpx2.AsyncClient, pool: Pool
):
    keys = {}
    for name, scope in (("ada", AccessScope.SUBMIT), ("bob", AccessScope.ADMIN)):
        secret, _ = await create_key(pool, NewKey(name, scope, budget_usd=Decimal(50)))
        keys[name] = {"Authorization": f"Bearer {secret}"}
    journey = (await client.post(PATH, json=GOAL, headers=keys["ada"])).json()
    for verb in ("read", "resume", "stop"):
        answer = await client.post(f"/v1/journeys/{journey['journey_id']}/{verb}", headers=keys["bob"])
        assert answer.status_code == 404
    assert (await client.get("/v1/subjects/moon/journey", headers=keys["bob"])).status_code == 404
    assert (await client.get("/v1/journeys", headers=keys["bob"])).json() == {"items": []}
    assert (await client.get("/v1/subjects/moon/journey", headers=keys["ada"])).status_code == 200


async def test_what_cannot_be_begun_is_refused_in_a_sentence(client: httpx2.AsyncClient):
    for body, words in (
        ({"goal": " "}, "The goal is empty"),
        ({"goal": "x", "facts_min": 0}, "facts_min"),
        ({"goal": "x", "model": "nobody-knows-this", "budget_usd": 1}, "price"),
        ({}, "goal"),
    ):
        refused = await client.post(PATH, json=body)
        assert (refused.status_code, words in refused.json()["detail"]) == (422, True), refused.text
    assert (await client.post("/v1/subjects/!!/journey", json=GOAL)).status_code == 422
    assert (await client.get(PATH)).status_code == 404
