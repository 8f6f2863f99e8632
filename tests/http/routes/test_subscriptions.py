from uuid import UUID

import httpx2
import pytest
from support.backdated_facts import Dated, day

from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.evaluations import Evaluations
from chiron_workers.runs.session import Caller, Session

BODY = {
    "topics": ["sea ice"],
    "subject": "The Arctic",
    "cron": "0 9 * * MON",
    "time_zone": "Europe/Berlin",
}
PATH = "/v1/subscriptions"


async def test_a_subscription_is_made_once_shown_paused_resumed_and_deleted(client: httpx2.AsyncClient):
    made = await client.post(PATH, json=BODY)
    found = made.json()
    where = f"{PATH}/{found['id']}"
    assert (made.status_code, made.headers["location"]) == (201, where)
    assert (found["subject_id"], found["state"], found["model"]) == ("the-arctic", "active", "offline")
    again = await client.post(PATH, json=BODY)
    assert (again.status_code, again.json()) == (200, found)
    assert (await client.get(where)).json() == found
    paused = await client.post(f"{where}/pause")
    assert (paused.status_code, paused.json()["state"], paused.json()["next_at"]) == (200, "paused", None)
    assert (await client.post(f"{where}/resume")).json() == found
    assert (await client.delete(where)).status_code == 204
    for answer in (await client.get(where), await client.delete(where), await client.post(f"{where}/pause")):
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_the_same_until_another_day_is_a_conflict(client: httpx2.AsyncClient):
    made = (await client.post(PATH, json=BODY | {"ends_at": "2099-01-01T00:00:00Z"})).json()
    refused = await client.post(PATH, json=BODY)
    assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
    assert f"Subscription {made['id']} has the same topics and times" in refused.json()["detail"]


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"])
async def test_an_end_that_no_clock_has_is_told_from_that_of_the_one_that_is_there(
    client: httpx2.AsyncClient, end: str
):
    await client.post(PATH, json=BODY)
    refused = await client.post(PATH, json=BODY | {"ends_at": end})
    assert (refused.status_code, end in refused.json()["detail"]) == (409, True)


async def test_they_are_listed_newest_first_in_pages(client: httpx2.AsyncClient):
    made = [(await client.post(PATH, json=BODY | {"topics": [f"topic {n}"]})).json()["id"] for n in range(5)]
    first = (await client.get(PATH, params={"limit": 3})).json()
    rest = (await client.get(PATH, params={"limit": 3, "after": first["next"]})).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == made[::-1]
    assert rest["next"] is None
    assert (await client.get(PATH, params={"subject": "Elsewhere"})).json() == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cron": "every monday"}, "Write five fields"),
        ({"cron": "* * * * *"}, "at least 60 minutes must lie between"),
        ({"cron": "0 9 * * " + "MON," * 30 + "MON"}, "cron: String should have at most 100 characters"),
        ({"time_zone": "Mars"}, "There is no time zone 'Mars'"),
        ({"role": "baker"}, "There is no role 'baker'"),
        ({"topics": []}, "topics"),
        ({"subject": "!!"}, "must be a name with letters or digits"),
        ({"ends_at": "2001-01-01T00:00:00Z"}, "after the subscription has ended"),
        ({"every": "day"}, "every"),
    ],
)
async def test_what_cannot_be_subscribed_to_is_a_problem_that_says_why(
    client: httpx2.AsyncClient, wrong: dict, words: str
):
    answer = await client.post(PATH, json=BODY | wrong)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert words in answer.json()["detail"]
    assert (await client.get(PATH)).json()["items"] == []
    assert (await client.get(f"{PATH}/{new_id()}")).status_code == 404
    assert (await client.get(f"{PATH}/none")).status_code == 404


async def test_the_times_of_one_tell_what_each_has_brought(client: httpx2.AsyncClient, pool: Pool):
    made = (await client.post(PATH, json=BODY)).json()
    assert (await client.get(f"{PATH}/{made['id']}/times")).json() == {"items": []}
    batch = (await client.post("/v1/batches", json={"subject": "The Arctic", "topics": ["ice"]})).json()[
        "batch_id"
    ]
    assert "difference" not in (await client.get(f"/v1/batches/{batch}")).json()
    dated = Dated(pool, "the-arctic")
    await dated.write(
        "update batches set subscription_id = %(id)s, due_at = %(at)s, created_at = %(at)s, finished_at = %(end)s",
        id=made["id"], at=day(1), end=day(2),
    )  # fmt: skip
    await dated.fact("It shrinks.", at=1.5)
    [time] = (await client.get(f"{PATH}/{made['id']}/times", params={"limit": 1})).json()["items"]
    assert (time["batch_id"], time["is_empty"], time["counts"]["new"]) == (batch, False, 1)
    found = (await client.get(f"/v1/batches/{batch}")).json()["difference"]
    assert [fact["content"] for fact in found["new"]] == ["It shrinks."]
    assert (await client.get(f"{PATH}/{new_id()}/times")).status_code == 404


async def test_the_tool_makes_the_same_subscription_for_whoever_calls_it(client: httpx2.AsyncClient):
    arguments = {key: value for key, value in BODY.items() if key != "subject"} | {"subject_id": "The Arctic"}
    made = (await client.post("/v1/tools/create_subscription", json=arguments)).json()["result"]
    assert (made["is_new"], made["state"]) == (True, "active")
    again = (await client.post("/v1/tools/create_subscription", json=arguments)).json()["result"]
    assert (again["is_new"], again["subscription_id"]) == (False, made["subscription_id"])
    refused = await client.post("/v1/tools/create_subscription", json=arguments | {"cron": "soon"})
    assert refused.status_code == 422
    assert "Write five fields" in refused.json()["detail"]
    assert (await client.get(PATH)).json()["items"][0]["id"] == made["subscription_id"]


async def test_a_run_has_the_texts_that_it_had_judged(client: httpx2.AsyncClient, pool: Pool):
    batch = (await client.post("/v1/batches", json={"subject": "Ice", "topics": ["ice"]})).json()
    where, caller = f"/v1/runs/{batch['run_ids'][0]}", Caller(run_id=UUID(batch["run_ids"][0]))
    assert (await client.get(where)).json()["evaluations"] == []
    async with Session(pool, caller) as session:
        await Evaluations(session).add(text="Ice.", question="", model="m", scores=[], overall=2)
    [found] = (await client.get(where)).json()["evaluations"]
    assert (found["text"], found["overall"], found["scores"]) == ("Ice.", 2.0, [])
