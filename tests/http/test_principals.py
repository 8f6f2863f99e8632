"""Who sends a request: a key, a session, or nobody."""

import asyncio
import re
from pathlib import Path

import httpx2
import pytest
from support.api_server import api_client

from chiron_api.http import principals
from chiron_api.http.csrf import token_for
from chiron_api.local_stack.access import api_key
from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope


async def bearer(pool: Pool, name: str, scope: AccessScope, **options) -> dict[str, str]:
    secret, _ = await create_key(pool, NewKey(name, scope, **options))
    return {"Authorization": f"Bearer {secret}"}


async def test_a_key_opens_what_its_scope_includes_and_no_more(pool: Pool, api: httpx2.AsyncClient):
    read, submit, admin = [await bearer(pool, scope, scope) for scope in AccessScope]
    for headers in (read, submit, admin):
        assert (await api.get("/v1/subjects", headers=headers)).status_code == 200
        search = {"query": "anything"}
        assert (await api.post("/v1/knowledge/search", json=search, headers=headers)).status_code == 200
        assert (await api.post("/v1/tools/list_subjects", json={}, headers=headers)).status_code == 200
    subject = {"subject_id": "ice"}
    for tool, arguments in (("set_active_subject", subject), ("file_reader", {}), ("one_of_my_own", {})):
        refusal = await api.post(f"/v1/tools/{tool}", json=arguments, headers=read)
        assert refusal.status_code == 403
        assert "may read; this needs one that may submit" in refusal.json()["detail"]
    for headers in (submit, admin):
        answer = await api.post("/v1/tools/set_active_subject", json=subject, headers=headers)
        assert answer.status_code != 403


async def test_a_key_that_is_revoked_stops_within_five_seconds(
    pool: Pool, api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    assert principals.CACHED_S <= 5
    monkeypatch.setattr(principals, "CACHED_S", 0.05)
    headers = await bearer(pool, "alice", AccessScope.READ)
    assert (await api.get("/v1/subjects", headers=headers)).status_code == 200
    await revoke_key(pool, "alice")
    while (refusal := await api.get("/v1/subjects", headers=headers)).status_code == 200:
        await asyncio.sleep(0.01)  # ends: the cache holds a key for CACHED_S
    assert refusal.status_code == 401
    assert refusal.json()["detail"] == "The key 'alice' was revoked."
    assert refusal.headers["WWW-Authenticate"] == "Bearer"


async def test_a_key_over_its_rate_is_told_when_to_come_again_by_whichever_server(
    pool: Pool, settings: Settings
):
    headers = await bearer(pool, "alice", AccessScope.READ, requests_per_minute=3)
    async with api_client(settings) as one, api_client(settings) as other:
        for client in (one, other, one):
            assert (await client.get("/v1/subjects", headers=headers)).status_code == 200
        for client in (one, other):
            refusal = await client.get("/v1/subjects", headers=headers)
            assert refusal.status_code == 429
            assert 1 <= int(refusal.headers["Retry-After"]) <= 60


async def test_a_link_signs_a_browser_in_once_with_a_cookie_that_scripts_and_other_sites_do_not_get(
    pool: Pool, api: httpx2.AsyncClient
):
    code = await create_code(pool)
    page = await api.get("/open", params={"code": code})
    assert page.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/"' in page.text
    assert page.headers["Cache-Control"] == "no-store"
    cookie = page.headers["Set-Cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert (await api.get("/v1/subjects")).status_code == 200
    again = await api.get("/open", params={"code": code})
    assert again.status_code == 401
    assert "can open the page from the terminal" in again.text
    assert "Set-Cookie" not in again.headers


async def test_a_signed_in_browser_changes_something_only_from_our_own_pages(
    pool: Pool, api: httpx2.AsyncClient
):
    await api.get("/open", params={"code": await create_code(pool)})
    own = str(api.base_url).rstrip("/")

    async def post(**headers: str) -> int:
        return (await api.post("/v1/tools/list_subjects", json={}, headers=headers)).status_code

    assert await post() == 403
    assert await post(Origin=own) == 200
    for origin in ("https://evil.example", "null", own.replace("http:", "https:"), f"{own[:-1]}"):
        assert await post(Origin=origin) == 403
    assert await post(**{"X-Chiron-CSRF": "0" * 64}) == 403


async def test_a_bearer_token_counts_before_the_cookie(pool: Pool, api: httpx2.AsyncClient):
    await api.get("/open", params={"code": await create_code(pool)})
    for text in ("Bearer chiron_nobody", "Basic x", "Bearer"):
        assert (await api.get("/v1/subjects", headers={"Authorization": text})).status_code == 401


async def test_close_ends_the_session_with_the_token_of_its_page_alone(pool: Pool, api: httpx2.AsyncClient):
    await api.get("/open", params={"code": await create_code(pool)})
    token = api.cookies["chiron_session"]
    assert (await api.post("/close", data={"token": "wrong"})).status_code == 403
    answer = await api.post("/close", data={"token": token_for(token.encode())})
    assert answer.status_code == 200
    api.cookies.clear()
    assert (await api.get("/v1/subjects", headers={"Cookie": f"chiron_session={token}"})).status_code == 401


async def test_a_person_without_a_session_is_told_how_to_sign_in(api: httpx2.AsyncClient):
    page = await api.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert 'action="/open"' in page.text
    assert "chiron open" not in page.text
    assert page.headers["Content-Type"].startswith("text/html")


async def test_what_a_key_changed_is_in_the_audit_trail(pool: Pool, api: httpx2.AsyncClient):
    headers = await bearer(pool, "alice", AccessScope.SUBMIT, owner="team")
    await api.post("/v1/tools/list_subjects", json={}, headers=headers)
    goal = {"subject_id": "ice", "purpose_statement": "Skate.", "target_depth": "overview"}
    assert (await api.post("/v1/tools/save_learning_goal", json=goal, headers=headers)).status_code == 200
    await api.get("/v1/subjects", headers=headers)
    await api.post("/v1/tools/no_such_tool", json={}, headers=headers)
    [entry] = await newest_entries(pool, limit=10)
    assert (entry.owner, entry.key_name, entry.action, entry.target) == (
        "team",
        "alice",
        "tools.call",
        "save_learning_goal",
    )
    assert headers["Authorization"][7:] not in repr(entry)


async def test_no_cache_keeps_an_answer_that_asked_for_a_key(pool: Pool, api: httpx2.AsyncClient):
    headers = await bearer(pool, "alice", AccessScope.READ)
    for path in ("/v1/batches", "/v1/subjects", "/openapi.json", "/v1/runs/none", "/batches"):
        for answer in (await api.get(path, headers=headers), await api.get(path)):
            assert answer.headers.get_list("Cache-Control") == ["no-store"], path


def test_the_cookie_is_read_from_one_place():
    files = Path(principals.__file__).parent.rglob("*.py")
    assert [file.name for file in files if '"chiron_session"' in file.read_text()] == ["principals.py"]


async def test_without_a_key_a_form_is_taken_with_the_token_of_our_pages_alone_whichever_server_made_it(
    settings: Settings,
):
    keyless = settings.model_copy(update={"api_without_key": True})
    form = {"topics": "Closures", "subject": "Python"}
    async with api_client(keyless) as one, api_client(keyless) as other:
        assert (await one.post("/submit", data=form)).status_code == 403
        assert (await one.post("/submit", data=form | {"token": "0" * 64})).status_code == 403
        page = await other.get("/submit")
        token = re.search(r'name="token" value="([0-9a-f]{64})"', page.text)
        assert token
        assert (await one.post("/submit", data=form | {"token": token[1]})).status_code == 303


async def test_a_stream_ends_with_its_key(
    pool: Pool, api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(principals, "CACHED_S", 0.05)
    monkeypatch.setattr("chiron_api.http.open_streams.HEARTBEAT_S", 0.2)
    headers = await bearer(pool, "alice", AccessScope.SUBMIT)
    batch = {"subject": "S", "topics": ["A"], "model": "offline"}
    receipt = (await api.post("/v1/batches", json=batch, headers=headers)).json()
    path = f"/v1/batches/{receipt['batch_id']}/events"
    async with asyncio.timeout(30), api.stream("GET", path, headers=headers) as stream:
        assert stream.status_code == 200
        chunks = stream.aiter_text()
        assert await anext(chunks)
        await revoke_key(pool, "alice")
        async for _ in chunks:  # ends
            pass


async def test_keys_are_made_listed_and_revoked_over_http_by_admins(
    pool: Pool, api: httpx2.AsyncClient, settings: Settings
):
    local = {"Authorization": f"Bearer {api_key(settings)}"}
    body = {
        "name": "alice",
        "scope": "submit",
        "budget_usd": 5,
        "budget_period": "day",
        "requests_per_minute": 60,
    }
    made = await api.post("/v1/keys", json=body, headers=local)
    assert made.status_code == 201
    secret = made.json()["key"]
    own = {"Authorization": f"Bearer {secret}"}
    assert (await api.get("/v1/subjects", headers=own)).status_code == 200
    assert (await api.get("/v1/keys", headers=own)).status_code == 403
    assert (await api.post("/v1/keys", json=body, headers=local)).status_code == 409
    assert (await api.post("/v1/keys", json=body | {"name": "a b"}, headers=local)).status_code == 422
    [item] = (await api.get("/v1/keys", headers=local)).json()["items"]
    assert (item["name"], item["left_usd"], item["budget_period"]) == ("alice", 5.0, "day")
    assert item["last_used_at"] is not None
    assert "key" not in item
    assert (await api.delete("/v1/keys/alice", headers=local)).status_code == 204
    assert (await api.delete("/v1/keys/alice", headers=local)).status_code == 404
    assert (await api.get("/v1/keys", headers=local)).json()["items"] == []
    trail = (await api.get("/v1/audit?limit=1", headers=local)).json()
    assert [(entry["action"], entry["target"]) for entry in trail["items"]] == [("keys.revoke", "alice")]
    rest = (await api.get(f"/v1/audit?after={trail['next']}", headers=local)).json()
    assert [entry["action"] for entry in rest["items"]] == ["keys.create"]
    assert secret not in str(trail) + str(rest)


async def test_what_a_key_read_that_only_this_machine_can_is_in_the_audit_trail(
    pool: Pool, api: httpx2.AsyncClient
):
    headers = await bearer(pool, "alice", AccessScope.SUBMIT, owner="team")
    await api.post("/v1/tools/web_fetch", json={"url": "corpus://ice/none.md"}, headers=headers)
    corpus = {"subject_id": "Ice", "purpose_statement": "Skate.", "target_depth": "overview"}
    await api.post("/v1/tools/save_learning_goal", json=corpus, headers=headers)
    document = {
        "params": {"path": "ice.md"},
        "content": "Ice floats.",
        "headers": headers | {"Content-Type": "text/markdown"},
    }
    assert (await api.post("/v1/subjects/ice/documents", **document)).status_code == 201
    answer = await api.post("/v1/tools/web_fetch", json={"url": "corpus://ice/ice.md"}, headers=headers)
    assert answer.status_code == 200
    entry = (await newest_entries(pool, limit=1))[0]
    assert (entry.owner, entry.action, entry.target) == ("team", "tools.read_private", "web_fetch")
