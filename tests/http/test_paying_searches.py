"""Who pays for the embedding of a query outside of runs, over HTTP and on the page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from aiohttp import web
from support.api_server import api_client
from support.facts_with_vectors import keep
from support.scripted_services import HostedServices, hosted_embedder, hosted_services

from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope, BudgetPeriod

QUERY = {"query": "tides", "subject_id": "moon"}
PRICE = Decimal("0.0006")  # 10 tokens at 60 USD per million
MOST = Decimal("0.00222")  # 5 bytes, and 32 tokens that the provider may add
Answer = dict[str, Any]
Search = Callable[[str], Awaitable[Answer]]
Open = Callable[..., Awaitable[httpx2.AsyncClient]]


@pytest.fixture
async def services() -> AsyncIterator[HostedServices]:
    async with hosted_services() as opened:
        yield opened


@pytest.fixture
async def opened(settings: Settings, pool: Pool, services: HostedServices) -> AsyncIterator[Open]:
    """`await opened(embeddings=60)`: a client of a server with hosted embeddings at this price, and with one fact."""
    async with AsyncExitStack() as stack:

        async def serve(**prices: Any) -> httpx2.AsyncClient:
            configured = services.configure(settings, **prices)
            async with hosted_embedder(configured) as embedder:
                await keep(pool, embedder, "The tides follow the moon.")
            services.embedded.clear()
            return await stack.enter_async_context(api_client(configured))

        yield serve


async def bearer(pool: Pool, name: str, scope: AccessScope, budget_usd: str | None = None) -> dict[str, str]:
    amount = None if budget_usd is None else Decimal(budget_usd)
    secret, _ = await create_key(pool, NewKey(name, scope, budget_usd=amount, budget_period=BudgetPeriod.DAY))
    return {"Authorization": f"Bearer {secret}"}


async def search(client: httpx2.AsyncClient, headers: dict[str, str], **more: Any) -> Answer:
    answer = await client.post("/v1/knowledge/search", json=QUERY | more, headers=headers)
    assert answer.status_code == 200, answer.text
    found: Answer = answer.json()
    assert [fact["content"] for fact in found["items"]] == ["The tides follow the moon."]
    return found


async def left(client: httpx2.AsyncClient, settings: Settings) -> dict[str, float | None]:
    keys = await client.get("/v1/keys", headers={"Authorization": f"Bearer {api_key(settings)}"})
    return {key["name"]: key["left_usd"] for key in keys.json()["items"]}


async def test_a_read_key_with_a_budget_pays_for_its_searches_until_it_is_spent(
    opened: Open, pool: Pool, settings: Settings, services: HostedServices
) -> None:
    client = await opened(embeddings=60)
    reader = await bearer(pool, "reader", AccessScope.READ, str(MOST + PRICE))
    for count in (1, 2):
        found = await search(client, reader)
        assert "words_only" not in found
        assert found["items"][0]["similarity"] is not None
        assert (await left(client, settings))["reader"] == pytest.approx(float(MOST + PRICE - count * PRICE))
    found = await search(client, reader)
    assert (found["words_only"], found["items"][0]["similarity"]) == (True, None)
    assert "The key 'reader' may spend 0.00282 USD a day and has 0.00162 USD left" in found["note"]
    assert len(services.embedded) == 2


async def test_a_read_key_without_a_budget_searches_by_words_and_is_told_so(
    opened: Open, pool: Pool, services: HostedServices
) -> None:
    client = await opened(embeddings=60)
    reader = await bearer(pool, "reader", AccessScope.READ)
    for mode in ("hybrid", "vector"):
        found = await search(client, reader, mode=mode)
        assert found["words_only"]
        assert "The key 'reader' may only read and has no budget, and voyage-3.5 costs money" in found["note"]
    assert "words_only" not in await search(client, reader, mode="text"), "nothing more was asked for"
    assert services.embedded == []


async def test_without_a_budget_who_may_submit_and_the_user_of_this_machine_search_by_meaning(
    opened: Open, pool: Pool, settings: Settings, services: HostedServices
) -> None:
    client = await opened(embeddings=60)
    writer = await bearer(pool, "writer", AccessScope.SUBMIT)
    for headers in (writer, {"Authorization": f"Bearer {api_key(settings)}"}):
        assert "words_only" not in await search(client, headers)
    assert len(services.embedded) == 2


async def test_where_embeddings_cost_nothing_every_key_searches_by_meaning_and_nothing_is_written(
    opened: Open, pool: Pool, services: HostedServices
) -> None:
    client = await opened(embeddings=0)
    for name, budget in (("reader", None), ("payer", "1")):
        assert "words_only" not in await search(client, await bearer(pool, name, AccessScope.READ, budget))
    async with pool.connection() as connection:
        assert await (await connection.execute("select from allotments")).fetchall() == []


async def test_a_key_with_a_budget_does_not_pay_an_unknown_price(
    opened: Open, pool: Pool, services: HostedServices
) -> None:
    client = await opened()
    found = await search(client, await bearer(pool, "payer", AccessScope.SUBMIT, "1"))
    assert found["words_only"]
    assert "Set it in CHIRON_SERVICE_PRICES" in found["note"]
    assert services.embedded == []


@pytest.mark.parametrize(("status", "paid"), [(504, MOST), (400, Decimal())])
async def test_an_embedding_without_an_answer_is_returned_and_one_that_is_lost_stays_paid(
    opened: Open, pool: Pool, settings: Settings, services: HostedServices, monkeypatch, status, paid
) -> None:
    monkeypatch.setattr("chiron_workers.embeddings.hosted.TRIES", 1)
    client = await opened(embeddings=60)
    reader = await bearer(pool, "reader", AccessScope.READ, "1")

    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status)

    services.on_embed = refuse
    answer = await client.post("/v1/knowledge/search", json=QUERY, headers=reader)
    assert answer.status_code >= 400
    assert (await left(client, settings))["reader"] == pytest.approx(float(1 - paid))


async def test_searches_of_a_day_are_one_row_of_the_ledger(opened: Open, pool: Pool) -> None:
    client = await opened(embeddings=60)
    reader = await bearer(pool, "reader", AccessScope.READ, "1")
    for _ in range(3):
        await search(client, reader)
    async with pool.connection() as connection:
        rows = await (await connection.execute("select act, service, amount_usd from allotments")).fetchall()
    assert [(row["act"], row["service"], row["amount_usd"]) for row in rows] == [
        ("spent", "voyage-3.5", 3 * PRICE)
    ]


async def test_a_tool_over_http_says_that_words_alone_were_searched(opened: Open, pool: Pool) -> None:
    client = await opened(embeddings=60)
    payer = await bearer(pool, "payer", AccessScope.SUBMIT, "0.000001")
    answer = (await client.post("/v1/tools/vector_search", json=QUERY, headers=payer)).json()
    assert [fact["similarity"] for fact in answer["result"]] == [None]
    assert "has 0.000001 USD left" in answer["note"]
    known = await client.post("/v1/tools/knowledge_base", json={"question": "tides"}, headers=payer)
    assert known.json()["result"]["note"] == answer["note"]


async def test_a_fact_whose_embedding_the_key_cannot_pay_is_not_stored(opened: Open, pool: Pool) -> None:
    client = await opened(embeddings=60)
    payer = await bearer(pool, "payer", AccessScope.SUBMIT, "0.000001")
    fact = {
        "content": "Ducks dive.",
        "source_url": "https://example.org/ducks",
        "source_score": 0.9,
        "confidence": 0.9,
        "topic_path": "ducks",
        "subject_id": "moon",
    }
    refusal = await client.post("/v1/tools/store_knowledge", json=fact, headers=payer)
    assert refusal.status_code == 422, refusal.text
    assert "has 0.000001 USD left" in refusal.text
    async with pool.connection() as connection:
        rows = await (await connection.execute("select content from facts")).fetchall()
    assert [row["content"] for row in rows] == ["The tides follow the moon."]


async def test_the_page_says_that_words_alone_were_searched(opened: Open, pool: Pool) -> None:
    client = await opened(embeddings=60)
    reader = await bearer(pool, "reader", AccessScope.READ) | {"Accept": "text/html"}
    for mode in ("", "vector"):
        page = await client.get("/search", params={"q": "tides", "mode": mode}, headers=reader)
        assert "The tides follow the moon." in page.text
        assert "Words alone were searched." in page.text
