from collections.abc import Iterator

import httpx2
import pytest
from redis import Redis

from chiron_workers import settings as process_settings
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.signals import CHANNEL
from chiron_workers.settings import Settings


@pytest.fixture(autouse=True)
def broker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What checks a budget reads the process's own settings."""
    monkeypatch.setenv("CHIRON_REDIS_URL", settings.redis_url)
    monkeypatch.setenv("CHIRON_DATABASE_URL", settings.database_url)
    process_settings.settings.cache_clear()
    yield
    process_settings.settings.cache_clear()


@pytest.fixture
async def batch(client: httpx2.AsyncClient) -> dict:
    document = {"topics": ["A", "B"], "subject": "S", "model": "claude-opus-5-5", "budget_usd": 1}
    return (await client.post("/v1/batches", json=document)).json()


async def states(client: httpx2.AsyncClient, batch: dict) -> dict[str, int]:
    found = (await client.get(f"/v1/batches/{batch['batch_id']}")).json()["runs"]
    return {state: count for state, count in found.items() if count}


async def test_a_batch_and_its_runs_are_steered(client: httpx2.AsyncClient, batch: dict):
    whole, run = f"/v1/batches/{batch['batch_id']}", f"/v1/runs/{batch['run_ids'][0]}"
    for path, changed, after in (
        (f"{run}/pause", 1, {"paused": 1, "queued": 1}),
        (f"{whole}/pause", 1, {"paused": 2}),
        (f"{whole}/resume", 2, {"queued": 2}),
        (f"{run}/cancel", 1, {"queued": 1, "cancelled": 1}),
        (f"{whole}/cancel", 1, {"cancelled": 2}),
        (f"{run}/retry", 1, {"queued": 1, "cancelled": 1}),
        (f"{whole}/retry", 1, {"queued": 2}),
    ):
        answer = await client.post(path)
        assert (answer.status_code, answer.json()) == (202, {"changed": changed, "asked": 0, "lifted": []})
        assert answer.headers["Location"] == path.rsplit("/", 1)[0]
        assert await states(client, batch) == after


async def test_a_retry_may_begin_from_scratch(client: httpx2.AsyncClient, batch: dict, pool: Pool):
    async with pool.connection() as connection:
        await connection.execute("update runs set state = 'completed'")
        await connection.execute("update batches set open_runs = 0")
    whole = f"/v1/batches/{batch['batch_id']}"
    assert (await client.post(f"{whole}/retry")).status_code == 409
    answer = await client.post(f"{whole}/retry", json={"from_scratch": True})
    assert (answer.status_code, answer.json()) == (202, {"changed": 2, "asked": 0, "lifted": []})
    assert await states(client, batch) == {"queued": 2}


async def test_a_run_that_is_being_played_is_left_to_its_worker(
    client: httpx2.AsyncClient, batch: dict, pool: Pool
):
    async with pool.connection() as connection:
        await connection.execute("update runs set state = 'running', lease = 1")
    answer = await client.post(f"/v1/batches/{batch['batch_id']}/cancel")
    assert (answer.status_code, answer.json()) == (202, {"changed": 0, "asked": 2, "lifted": []})


async def test_a_wrong_transition_is_409_and_says_why(client: httpx2.AsyncClient, batch: dict):
    answer = await client.post(f"/v1/batches/{batch['batch_id']}/retry")
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].endswith("nothing of it is failed or cancelled (2 queued).")


async def test_a_budget_that_is_spent_must_be_raised(client: httpx2.AsyncClient, batch: dict, pool: Pool):
    path = f"/v1/batches/{batch['batch_id']}"
    await client.post(f"{path}/pause")
    async with pool.connection() as connection:
        await connection.execute("update batches set spent_usd = 1")
    assert (await client.post(f"{path}/resume")).status_code == 409
    assert (await client.post(f"{path}/resume", json={"budget_usd": 1})).status_code == 409
    for wrong in ({"budget_usd": -1}, {"budget": 2}, {"budget_usd": 10**12}):
        assert (await client.post(f"{path}/resume", json=wrong)).status_code == 422
    assert (await client.post(f"{path}/cancel", json={"budget_usd": 2})).status_code == 422
    assert (await client.post(f"{path}/resume", json={"budget_usd": 2})).status_code == 202
    assert (await client.get(path)).json()["budget_usd"] == 2


async def test_workers_are_told(client: httpx2.AsyncClient, batch: dict, settings: Settings):
    with Redis.from_url(settings.redis_url) as redis, redis.pubsub() as heard:
        heard.subscribe(CHANNEL)
        await client.post(f"/v1/batches/{batch['batch_id']}/pause")
        await client.post(f"/v1/batches/{batch['batch_id']}/resume")
        messages = [heard.get_message(timeout=60) for _ in range(3)]
    assert [m["data"].decode() for m in messages if m["type"] == "message"] == [batch["batch_id"]] * 2
