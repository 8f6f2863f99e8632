"""The page of schedules: made, run, paused, resumed and deleted with forms, and what the last time brought."""

import re

import httpx2
import pytest
from support.api_server import api_client
from support.research_rows import Shelf

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

TOKEN = {"token": ""}
FORM = {"topics": "sea ice\npermafrost\n", "subject": "The Arctic", "cron": "0 9 * * MON", "model": "offline"}
HOSTILE = "<script>alert(1)</script> \u202eabc"


async def schedule_of(client: httpx2.AsyncClient, **fields: str) -> str:
    answer = await client.post("/schedules", data=TOKEN | FORM | fields)
    assert answer.status_code == 303, answer.text
    path, _, schedule_id = str(answer.headers["location"]).partition("#")
    assert path == "/schedules"
    return schedule_id


async def test_a_schedule_is_made_with_a_form_and_listed(client: httpx2.AsyncClient):
    assert "None yet" in (await client.get("/schedules")).text
    schedule_id = await schedule_of(client, time_zone="Europe/Berlin", recheck="true", budget_usd="")
    made = (await client.get(f"/v1/subscriptions/{schedule_id}")).json()
    assert (made["topics"], made["time_zone"], made["recheck"]) == (
        ["sea ice", "permafrost"],
        "Europe/Berlin",
        True,
    )
    page = (await client.get("/schedules")).text
    for words in (f'id="{schedule_id}"', "sea ice", "and 1 more", ">active</span>", "Europe/Berlin", "in "):
        assert words in page
    assert 'aria-current="page">\nSchedules' in page or 'aria-current="page">Schedules' in page


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 9 * * MON", '<span title="0 9 * * MON">At 09:00 on Monday</span>'),
        ("0 9 * * *", '<span title="0 9 * * *">At 09:00 every day</span>'),
        ("0 9 1-7 * MON", "<code>0 9 1-7 * MON</code>"),
    ],
)
async def test_list_of_schedules_has_a_simple_time_in_words(
    client: httpx2.AsyncClient, cron: str, words: str
):
    await schedule_of(client, cron=cron)
    assert words in (await client.get("/schedules")).text


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("topics", "", "topics"),
        ("cron", "now and then", "cannot be read"),
        ("time_zone", "Atlantis", "There is no time zone"),
        ("subject", "", "subject"),
    ],
)
async def test_what_is_wrong_in_the_form_is_said_in_it(
    client: httpx2.AsyncClient, field: str, value: str, words: str
):
    answer = await client.post("/schedules", data=TOKEN | FORM | {field: value, "context": HOSTILE})
    assert answer.status_code == 422
    assert words in answer.text
    assert "<script>alert" not in answer.text
    assert (await client.get("/v1/subscriptions")).json()["items"] == []


async def test_a_schedule_is_paused_resumed_run_and_deleted(client: httpx2.AsyncClient, pool: Pool):
    schedule_id = await schedule_of(client)
    for word, state in (("pause", "paused"), ("resume", "active")):
        assert f'action="/schedules/{schedule_id}/{word}"' in (await client.get("/schedules")).text
        answer = await client.post(f"/schedules/{schedule_id}/{word}", data=TOKEN)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/schedules#{schedule_id}")
        assert f">{state}</span>" in (await client.get("/schedules")).text
    answer = await client.post(f"/schedules/{schedule_id}/run", data=TOKEN)
    assert answer.status_code == 303
    assert re.fullmatch(r"/batches/[0-9a-f-]{36}", answer.headers["location"])
    page = (await client.get("/schedules")).text
    assert f'href="{answer.headers["location"]}">under way' in page
    assert "Run now" not in page
    again = await client.post(f"/schedules/{schedule_id}/run", data=TOKEN)
    assert again.status_code == 409
    assert "is not finished" in again.text
    assert (await client.post(f"/schedules/{schedule_id}/delete", data=TOKEN)).status_code == 303
    assert (await client.get("/v1/subscriptions")).json()["items"] == []
    actions = [entry.action for entry in await newest_entries(pool, limit=10)]
    assert actions[:2] == ["subscriptions.delete", "subscriptions.run"]


async def test_the_last_result_is_shown_with_its_difference(client: httpx2.AsyncClient, shelf: Shelf):
    schedule_id = await schedule_of(client)
    await client.post(f"/schedules/{schedule_id}/run", data=TOKEN)
    shelf.connection.execute("update batches set open_runs = 0, finished_at = now()")
    assert ">finished</a>" in (await client.get("/schedules")).text
    shelf.connection.execute(
        """update batches set compared_at = now(), difference = '{"new": 3, "withdrawn": 1}'"""
    )
    assert ">3 new, 1 withdrawn</a>" in (await client.get("/schedules")).text


async def test_an_owner_sees_its_own_schedules_alone(
    client: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    schedule_id = await schedule_of(client)
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    reader, _ = await create_key(pool, NewKey("reader", AccessScope.READ))
    async with api_client(settings) as alice:
        alice.headers["Authorization"] = f"Bearer {secret}"
        assert schedule_id not in (await alice.get("/schedules")).text
        for word in ("run", "pause", "resume", "delete"):
            assert (await alice.post(f"/schedules/{schedule_id}/{word}", data=TOKEN)).status_code == 404
        alice.headers["Authorization"] = f"Bearer {reader}"
        assert (await alice.post("/schedules", data=TOKEN | FORM)).status_code == 403
