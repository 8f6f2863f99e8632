"""Wrong bearer keys: they are counted by address, together with those of the form."""

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


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an API behind a proxy, so that a request can come from any address."""
    values = settings.model_copy(update={"trusted_proxies": ["127.0.0.1/32"]})
    async with api_client(values) as client:
        yield client


def bearer(key: str, *, address: str = "203.0.113.7") -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "X-Forwarded-For": address}


async def guess(api: httpx2.AsyncClient, *, address: str = "203.0.113.7") -> None:
    for n in range(GUESSES_MAX):
        answer = await api.get(
            "/v1/subjects", headers=bearer(f"ck_{n}" if n % 2 else f"wrong{n}", address=address)
        )
        assert answer.status_code == 401


async def test_wrong_keys_make_their_address_wait_with_any_key_and_at_the_form(
    api: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ))
    await guess(api)
    for key in ("wrong", secret, api_key(settings)):
        answer = await api.get("/v1/subjects", headers=bearer(key))
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.json()["detail"].startswith("Too many wrong keys came from your address. Try again in")
    form = await api.post(
        "/open", data={"key": secret}, headers={"X-Forwarded-For": "203.0.113.7", "Accept": "text/html"}
    )
    assert form.status_code == 429
    # What needs no key, and what brings none, is answered as ever.
    address = {"X-Forwarded-For": "203.0.113.7"}
    assert (await api.get("/healthz", headers=bearer("wrong"))).status_code == 200
    assert (await api.get("/v1/subjects", headers=address)).status_code == 401
    link = await api.get("/open", params={"code": await create_code(pool)}, headers=address)
    assert link.status_code == 200
    assert (await api.get("/v1/subjects", headers=address)).status_code == 200


async def test_wrong_keys_that_are_repeated_lock_nobody_out_after_a_restart(
    api: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ))
    for _ in range(3 * GUESSES_MAX):
        assert (await api.get("/v1/subjects", headers=bearer("ck_old"))).status_code == 401
    for key in (secret, api_key(settings)):  # this server sees both for the first time
        assert (await api.get("/v1/subjects", headers=bearer(key))).status_code == 200


async def test_wrong_keys_on_this_machine_do_not_lock_its_user_out(
    api: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ))
    await guess(api, address="127.0.0.1")
    for key, status in (("wrong", 429), (secret, 429), (api_key(settings), 200)):
        answer = await api.get("/v1/subjects", headers=bearer(key, address="127.0.0.1"))
        assert answer.status_code == status


async def test_wrong_keys_stop_neither_other_addresses_nor_keys_in_use(
    api: httpx2.AsyncClient, settings: Settings, pool: Pool
):
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.READ))
    other_secret, _ = await create_key(pool, NewKey("bob", AccessScope.READ))
    for key in (secret, api_key(settings)):
        assert (await api.get("/v1/subjects", headers=bearer(key))).status_code == 200
    await guess(api)
    assert (await api.get("/v1/subjects", headers=bearer("wrong"))).status_code == 429
    for key in (secret, api_key(settings)):  # in use there before the guesses begin
        assert (await api.get("/v1/subjects", headers=bearer(key))).status_code == 200
    for key in (other_secret, api_key(settings)):
        elsewhere = bearer(key, address="203.0.113.8")
        assert (await api.get("/v1/subjects", headers=elsewhere)).status_code == 200
