"""The page of keys: made once and shown once, listed, revoked, for admins alone."""

import re
from datetime import datetime

import httpx2
import pytest
from support.api_server import api_client

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, all_keys, create_key, find_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope, BudgetPeriod

FORM = {"name": "ci", "scope": "submit"}
SECRET = re.compile(r"<code>(chiron_[\w-]{40,})</code>")


async def test_a_key_is_made_with_a_form_and_shown_once(client: httpx2.AsyncClient, pool: Pool):
    limits = {"owner": "build", "expires_at": "2999-12-31", "budget_usd": "2.50", "budget_period": "day"}
    answer = await client.post("/keys", data=FORM | limits | {"requests_per_minute": "90"})
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    secret = SECRET.search(answer.text)
    assert secret
    key = await find_key(pool, secret[1])
    assert (key.name, key.owner, key.scope) == ("ci", "build", AccessScope.SUBMIT)
    assert (str(key.budget_usd), key.budget_period) == ("2.500000", BudgetPeriod.DAY)
    assert key.requests_per_minute == 90
    assert key.expires_at == datetime(2999, 12, 31).astimezone()  # the beginning of the day on this machine
    page = (await client.get("/keys")).text
    assert secret[1] not in page
    for words in ("ci", "of build", "$2.50 a day", "$2.50 left", ">90 "):
        assert words in page
    [entry] = await newest_entries(pool, limit=10)
    assert (entry.action, entry.target) == ("keys.create", "ci")
    assert secret[1] not in repr(entry)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "name: String should have at least 1 character"),
        ("name", "two words", "is no name of a key"),
        ("scope", "everything", "should be &#39;read&#39;, &#39;submit&#39; or &#39;admin&#39;"),
        ("expires_at", "tomorrow", "a time is text such as 2026-10-01"),
        ("expires_at", "2001-01-01", "has passed already"),
        ("budget_usd", "-1", "budget_usd: Input should be greater than 0"),
        ("requests_per_minute", "many", "should be a valid integer"),
    ],
)
async def test_what_is_wrong_in_the_form_is_said_in_it(
    client: httpx2.AsyncClient, pool: Pool, field: str, value: str, words: str
):
    answer = await client.post("/keys", data=FORM | {field: value})
    assert answer.status_code == 422
    assert words in answer.text
    assert 'action="/keys"' in answer.text
    assert await all_keys(pool) == []


async def test_a_name_in_use_is_said(client: httpx2.AsyncClient):
    await client.post("/keys", data=FORM)
    again = await client.post("/keys", data=FORM)
    assert again.status_code == 422
    assert "There is a key" in again.text
    assert SECRET.search(again.text) is None


async def test_a_key_is_revoked_from_the_list(client: httpx2.AsyncClient, pool: Pool):
    await client.post("/keys", data=FORM)
    assert 'action="/keys/ci/revoke"' in (await client.get("/keys")).text
    answer = await client.post("/keys/ci/revoke", data={"token": ""})
    assert (answer.status_code, answer.headers["location"]) == (303, "/keys")
    assert await all_keys(pool) == []
    assert "There is no key but that of this home" in (await client.get("/keys")).text
    assert ">revoked</span>" in (await client.get("/keys?revoked=true")).text
    assert (await client.post("/keys/ci/revoke", data={"token": ""})).status_code == 404
    assert (await newest_entries(pool, limit=1))[0].action == "keys.revoke"


async def test_a_browser_needs_the_token_of_its_session(browser: httpx2.AsyncClient, pool: Pool):
    await create_key(pool, NewKey("old", AccessScope.READ))
    for path in ("/keys", "/keys/old/revoke"):
        assert (await browser.post(path, data=FORM)).status_code == 403
    assert [key.name for key in await all_keys(pool)] == ["old"]
    token = re.search(r'name="token" value="([0-9a-f]{64})"', (await browser.get("/keys")).text)
    assert token
    assert (await browser.post("/keys", data=FORM | {"token": token[1]})).status_code == 201


async def test_only_an_admin_is_led_to_keys(client: httpx2.AsyncClient, settings: Settings, pool: Pool):
    assert 'href="/keys"' in (await client.get("/system")).text
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    async with api_client(settings) as alice:
        alice.headers["Authorization"] = f"Bearer {secret}"
        assert 'href="/keys"' not in (await alice.get("/system")).text
        assert (await alice.get("/keys")).status_code == 403
        assert (await alice.post("/keys", data=FORM)).status_code == 403
