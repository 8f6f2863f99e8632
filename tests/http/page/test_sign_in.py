"""Signing a browser in with a key, and what forms it may then send."""

import re
from collections.abc import AsyncIterator

import httpx2
import pytest
from support.api_server import api_client

from chiron_api.http.guesses import GUESSES_MAX
from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
FORM = {"topics": "Closures", "subject": "Python"}


@pytest.fixture
async def browser(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that is not signed in."""
    async with api_client(settings) as client:
        client.headers.update(BROWSER)
        yield client


async def token_of(client: httpx2.AsyncClient) -> str:
    token = re.search(r'name="token" value="([0-9a-f]{64})"', (await client.get("/submit")).text)
    assert token
    return token[1]


async def test_a_browser_without_a_session_gets_the_form_and_a_program_a_problem(browser: httpx2.AsyncClient):
    for path in ("/", "/subjects", "/system", "/batches/no-id"):
        answer = await browser.get(path)
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")
        assert "can open the page from the terminal, already signed in" in answer.text
        assert 'action="/open"' in answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["www-authenticate"] == "Bearer"
    for path, accept in (("/v1/subjects", "text/html"), ("/", "application/json")):
        answer = await browser.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


async def test_a_key_signs_in_with_a_cookie_that_neither_scripts_nor_other_sites_get(
    browser: httpx2.AsyncClient, settings: Settings
):
    answer = await browser.post("/open", data={"key": f" {api_key(settings)}\n"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert "secure" not in cookie
    assert api_key(settings) not in cookie
    assert (await browser.get("/")).status_code == 200
    assert "Sign out" in (await browser.get("/")).text


async def test_a_made_key_signs_in_as_its_owner_with_its_scope(browser: httpx2.AsyncClient, pool: Pool):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ))
    assert (await browser.post("/open", data={"key": secret})).status_code == 303
    page = await browser.get("/subjects")
    assert "<span>alice</span>" in page.text
    answer = await browser.post("/submit", data=FORM | {"token": await token_of(browser)})
    assert answer.status_code == 403


async def test_a_wrong_key_is_said_in_the_form_and_guessing_ends_after_ten(
    browser: httpx2.AsyncClient, settings: Settings
):
    for n in range(GUESSES_MAX):
        answer = await browser.post("/open", data={"key": f'"><script>alert({n})</script>'})
        assert answer.status_code == 401
        assert "does not know that key" in answer.text
        assert "<script>alert" not in answer.text
        assert "set-cookie" not in answer.headers
    answer = await browser.post("/open", data={"key": api_key(settings)})
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert "Try again in" in answer.text


async def test_a_form_of_another_site_signs_nobody_in(browser: httpx2.AsyncClient, settings: Settings):
    own = str(browser.base_url).rstrip("/")
    for origin in ("https://evil.example", "null", own.replace("http:", "https:")):
        answer = await browser.post("/open", data={"key": api_key(settings)}, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    answer = await browser.post("/open", data={"key": api_key(settings)}, headers={"Origin": own})
    assert answer.status_code == 303


async def test_nobody_sends_much_before_signing_in(browser: httpx2.AsyncClient):
    assert (await browser.post("/open", data={"key": "x" * 10_000})).status_code == 413


async def test_a_form_counts_with_the_token_of_its_own_session_and_origin_alone(
    browser: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    await browser.get("/open", params={"code": await create_code(pool)})
    token = await token_of(browser)
    async with api_client(settings) as other:
        await other.get("/open", params={"code": await create_code(pool)})
        other_token = await token_of(other)
    for form, headers in (
        (FORM, {}),
        (FORM | {"token": other_token}, {}),
        (FORM | {"token": "é"}, {}),
        (FORM | {"token": token}, {"Origin": "https://evil.example"}),
        (FORM | {"token": token}, {"Origin": "null"}),
    ):
        answer = await browser.post("/submit", data=form, headers=headers)
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith("text/html")
    own = {"Origin": str(browser.base_url).rstrip("/")}
    assert (await browser.post("/submit", data=FORM | {"token": token}, headers=own)).status_code == 303


async def test_every_form_of_every_page_carries_the_token(browser: httpx2.AsyncClient, settings: Settings):
    await browser.post("/open", data={"key": api_key(settings)})
    answer = await browser.post("/submit", data=FORM | {"token": await token_of(browser)})
    for path in (
        "/submit",
        "/subjects",
        "/subjects/python",
        "/subjects/python/sources",
        answer.headers["location"],
    ):
        text = (await browser.get(path)).text
        forms = re.findall(r'<form method="post".*?</form>', text, re.DOTALL)
        assert forms, path
        assert all('name="token" value="' in form for form in forms), path


async def test_signing_out_ends_the_session(browser: httpx2.AsyncClient, settings: Settings):
    await browser.post("/open", data={"key": api_key(settings)})
    answer = await browser.post("/close", data={"token": await token_of(browser)})
    assert "signed out" in answer.text
    assert (await browser.get("/")).status_code == 401


async def test_a_link_that_was_used_says_so_beside_the_form(browser: httpx2.AsyncClient, pool: Pool):
    code = await create_code(pool)
    await browser.get("/open", params={"code": code})
    browser.cookies.clear()
    answer = await browser.get("/open", params={"code": code})
    assert answer.status_code == 401
    assert "This link was used" in answer.text
    assert 'name="key"' in answer.text


async def test_sign_in_link_is_used_up_by_head_as_by_get(browser: httpx2.AsyncClient, pool: Pool):
    code = await create_code(pool)
    answer = await browser.head("/open", params={"code": code})
    assert (answer.status_code, answer.content) == (200, b"")
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert (await browser.get("/")).status_code == 200
    browser.cookies.clear()
    for method in ("GET", "HEAD"):
        assert (await browser.request(method, "/open", params={"code": code})).status_code == 401


async def test_sign_in_link_keeps_its_code_out_of_referrers(browser: httpx2.AsyncClient, pool: Pool):
    code = await create_code(pool)
    policies = {
        (await browser.get("/open", params={"code": value})).headers["referrer-policy"]
        for value in (code, code, "x", "")
    }
    assert policies <= {"no-referrer", "strict-origin"}


async def test_a_page_that_is_refused_for_now_says_when_to_come_again(
    browser: httpx2.AsyncClient, pool: Pool
):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ, requests_per_minute=1))
    browser.headers["Authorization"] = f"Bearer {secret}"
    assert (await browser.get("/subjects")).status_code == 200
    answer = await browser.get("/subjects")
    assert (answer.status_code, answer.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
