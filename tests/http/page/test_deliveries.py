"""The page of deliveries: each with what came of it, for its owner, and sent again with a form."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from support.api_server import api_client
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

HOSTILE = "<script>alert(1)</script> \u202eabc"
FORM = {"token": ""}


@pytest.fixture
async def alice(settings: Settings, pool: Pool) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a key that may submit."""
    secret, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    async with api_client(settings) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        yield client


async def delivery_of(client: httpx2.AsyncClient) -> str:
    webhook = (await client.post("/v1/webhooks", json={"url": "https://example.org/hook?secret=1"})).json()
    delivery: str = (await client.post(f"/v1/webhooks/{webhook['id']}/test")).json()["id"]
    return delivery


async def test_without_deliveries_the_page_says_how_to_get_some(client: httpx2.AsyncClient):
    page = (await client.get("/deliveries")).text
    assert 'href="/webhooks#new"' in page
    assert "chiron webhooks" not in page
    assert 'href="/deliveries"' in (await client.get("/system")).text


async def test_a_delivery_is_listed_with_its_tries_its_error_and_its_next_try(
    client: httpx2.AsyncClient, shelf: Shelf
):
    delivery = await delivery_of(client)
    shelf.connection.execute(
        "update deliveries set tries = 3, status = 503, error = %s, due_at = now() + interval '2 hours'",
        (f"busy {HOSTILE}",),
    )
    page = (await client.get("/deliveries")).text
    assert f'id="{delivery}"' in page
    assert ">a test</" in page
    assert ">waiting</span>" in page
    assert 'data-label="tries">3<' in page
    assert 'data-label="next try"' in page  # on a phone a table has no heads
    assert "503: busy" in page
    assert "in 2 h" in page or "in 120 min" in page
    assert "<script>alert" not in page
    assert "secret=1" not in page


async def test_a_failed_delivery_is_sent_again_with_its_button(client: httpx2.AsyncClient, shelf: Shelf):
    delivery = await delivery_of(client)
    shelf.connection.execute("update deliveries set state = 'failed', tries = 10, finished_at = now()")
    path = f"/deliveries/{delivery}/resend"
    page = (await client.get("/deliveries")).text
    assert f'action="{path}"' in page
    assert ">failed</span>" in page
    answer = await client.post(path, data=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, "/deliveries")
    [state] = shelf.connection.execute("select state, tries from deliveries").fetchall()
    assert state == ("waiting", 0)


async def test_a_delivery_of_a_webhook_that_is_off_says_how_to_turn_it_on(
    client: httpx2.AsyncClient, shelf: Shelf
):
    delivery = await delivery_of(client)
    shelf.connection.execute("update webhooks set state = 'off', reason = 'It answered 410: it is gone.'")
    assert '/resume"><' in (await client.get("/deliveries")).text
    answer = await client.post(f"/deliveries/{delivery}/resend", data=FORM)
    assert answer.status_code == 409
    assert "is off" in answer.text


async def test_an_owner_sees_and_sends_again_its_own_alone(
    client: httpx2.AsyncClient, alice: httpx2.AsyncClient
):
    of_local, of_alice = await delivery_of(client), await delivery_of(alice)
    page = (await alice.get("/deliveries")).text
    assert of_alice in page
    assert of_local not in page
    assert (await alice.post(f"/deliveries/{of_local}/resend", data=FORM)).status_code == 404
    everything = (await client.get("/deliveries")).text
    assert of_alice in everything
    assert of_local in everything
    assert "of alice" in everything


async def test_many_deliveries_come_in_pages(client: httpx2.AsyncClient, shelf: Shelf):
    delivery = await delivery_of(client)
    shelf.connection.execute(
        "insert into deliveries (id, webhook_id, kind, payload)"
        " select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, webhook_id, kind, payload"
        "   from deliveries, generate_series(1, 60) n"
    )
    first = (await client.get("/deliveries")).text
    assert delivery in first
    assert first.count("<tr data-row") == 50
    before = first.partition("?before=")[2].partition('"')[0]
    assert (await client.get(f"/deliveries?before={before}")).text.count("<tr data-row") == 11
