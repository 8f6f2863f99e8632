"""The page of webhooks: made with a secret that is shown once, tested, paused, resumed and deleted with forms."""

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
URL = "https://example.org/hook?secret=1"
SECRET = re.compile(r"<code>(whsec_[\w+/=]{44,})</code>")
HOSTILE = "<script>alert(1)</script> \u202eabc"


async def webhook_of(client: httpx2.AsyncClient) -> str:
    webhook_id: str = (await client.post("/v1/webhooks", json={"url": URL})).json()["id"]
    return webhook_id


async def test_a_webhook_is_made_with_a_form_and_its_secret_is_shown_once(
    client: httpx2.AsyncClient, pool: Pool
):
    empty = (await client.get("/webhooks")).text
    assert "None yet" in empty
    assert re.search(r'value="batch\.completed" checked', empty)
    assert not re.search(r'value="run\.completed" checked', empty)
    kinds = [("kinds", "run.failed"), ("kinds", "batch.completed")]
    content = str(httpx2.QueryParams([("token", ""), ("url", URL), ("format", ""), *kinds]))
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await client.post("/webhooks", content=content, headers=headers)
    assert answer.status_code == 201
    secret = SECRET.search(answer.text)
    assert secret
    [webhook] = (await client.get("/v1/webhooks")).json()["items"]
    assert (webhook["kinds"], webhook["format"]) == (["run.failed", "batch.completed"], "standard")
    page = (await client.get("/webhooks")).text
    assert secret[1] not in page
    assert "secret=1" not in page
    assert "a run has failed, a batch has ended" in page
    [entry] = await newest_entries(pool, limit=10)
    assert (entry.action, entry.target) == ("webhooks.create", webhook["id"])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "ftp://example.org"}, "Nothing can be sent there"),
        ({"url": URL, "kinds": ""}, "Tick one kind"),
        ({"url": "", "kinds": "run.failed"}, "url"),
        ({"url": URL, "kinds": "run.failed\nrun.born"}, "kinds"),
    ],
)
async def test_what_is_wrong_in_the_form_is_said_in_it(
    client: httpx2.AsyncClient, fields: dict[str, str], words: str
):
    answer = await client.post("/webhooks", data=TOKEN | {"kinds": "run.failed"} | fields)
    assert answer.status_code == 422
    assert words in answer.text
    assert SECRET.search(answer.text) is None
    assert (await client.get("/v1/webhooks")).json()["items"] == []


async def test_a_webhook_is_tested_paused_resumed_and_deleted(client: httpx2.AsyncClient, shelf: Shelf):
    webhook_id = await webhook_of(client)
    path = f"/webhooks/{webhook_id}"
    assert "nothing sent yet" in (await client.get("/webhooks")).text
    assert (await client.post(f"{path}/test", data=TOKEN)).headers["location"] == f"/webhooks#{webhook_id}"
    page = (await client.get("/webhooks")).text
    assert ">waiting</span>" in page
    assert "a test" in page
    shelf.connection.execute("update deliveries set state = 'failed', error = %s", (HOSTILE,))
    page = (await client.get("/webhooks")).text
    assert ">failed</span>" in page
    assert "<script>alert" not in page
    await client.post(f"{path}/pause", data=TOKEN)
    page = (await client.get("/webhooks")).text
    assert ">paused</span>" in page
    assert f'action="{path}/test"' not in page
    refusal = await client.post(f"{path}/test", data=TOKEN)
    assert refusal.status_code == 409
    assert f'action="{path}/resume"' in refusal.text
    await client.post(f"{path}/resume", data=TOKEN)
    assert ">active</span>" in (await client.get("/webhooks")).text
    assert (await client.post(f"{path}/delete", data=TOKEN)).status_code == 303
    assert (await client.get("/v1/webhooks")).json()["items"] == []


async def test_an_owner_sees_its_own_webhooks_alone(
    client: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    webhook_id = await webhook_of(client)
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    async with api_client(settings) as alice:
        alice.headers["Authorization"] = f"Bearer {secret}"
        assert webhook_id not in (await alice.get("/webhooks")).text
        for word in ("test", "pause", "resume", "delete"):
            assert (await alice.post(f"/webhooks/{webhook_id}/{word}", data=TOKEN)).status_code == 404
