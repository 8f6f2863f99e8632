from collections.abc import Iterator

import httpx2
import pytest

from chiron_workers import settings as process_settings
from chiron_workers.settings import Settings


@pytest.fixture(autouse=True)
def broker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What rings reads the process's own settings."""
    monkeypatch.setenv("CHIRON_REDIS_URL", settings.redis_url)
    process_settings.settings.cache_clear()
    yield
    process_settings.settings.cache_clear()


@pytest.fixture
async def batch(client: httpx2.AsyncClient) -> dict:
    return (await client.post("/v1/batches", json={"topics": ["A", "B"], "subject": "S"})).json()


async def test_runs_and_batches_are_deleted_once_they_are_finished(client: httpx2.AsyncClient, batch: dict):
    whole, run = f"/v1/batches/{batch['batch_id']}", f"/v1/runs/{batch['run_ids'][0]}"
    for path in (whole, run):
        refused = await client.delete(path)
        assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
        [remedy] = refused.json()["remedies"]
        assert (remedy["action"], remedy["method"]) == ("cancel", "POST")
    await client.post(f"{whole}/cancel")
    assert (await client.delete(run, params={"with_facts": "true"})).status_code == 204
    assert (await client.get(run)).status_code == 404
    assert (await client.get(whole)).json()["runs"]["cancelled"] == 1
    gone = await client.delete(whole)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.delete(whole)).status_code == 404
