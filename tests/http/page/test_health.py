"""The health line on pages and over HTTP; with a worker that stands still it says so within a lease's time."""

import asyncio
import signal
import time
from datetime import timedelta

import httpx2
import psutil
import pytest
from support.api_server import keyed_client
from support.worker_processes import chiron, rows, running

from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings

LEASE_S = 6.0
FROZEN = "no worker answers: the worker has given no sign for"
SIGN = (
    "insert into worker_metrics (id, worker, counters, gauges, saved_at) "
    "values (gen_random_uuid(), 'w1', '{}', '{}', now() - %s)"
)
PAGES = ("/", "/submit", "/batches", "/subjects", "/costs", "/system", "/search?q=x")


async def test_the_line_stands_on_every_page_and_is_answered_over_http(
    client: httpx2.AsyncClient, pool: Pool
) -> None:
    async with pool.connection() as connection:
        await connection.execute(SIGN, (timedelta(seconds=40),))
    answer = (await client.get("/v1/health")).json()
    assert (answer["workers"], answer["silent_workers"], answer["redis"]) == (0, 1, "")
    assert answer["problems"][0].startswith(FROZEN)
    assert (answer["spent_today_usd"], answer["has_postgres"]) == (0, True)
    for path in PAGES:
        html = (await client.get(path)).text
        assert 'id="health"' in html, path
        assert "No worker answers: the worker has given no sign for 4" in html, path
    services = (await client.get("/system")).text
    assert '<dt>Workers alive</dt><dd><span class="state paused">none</span>' in services
    assert '<span class="state failed">1 without a sign for 4' in services


async def test_who_is_not_signed_in_sees_no_line(api: httpx2.AsyncClient) -> None:
    answer = await api.get("/", headers={"Accept": "text/html"})
    assert (answer.status_code, 'id="health"' in answer.text) == (401, False)
    assert (await api.get("/v1/health")).status_code == 401


@pytest.mark.acceptance
async def test_a_frozen_worker_is_told_of_within_a_leases_time(settings: Settings) -> None:
    env = {"CHIRON_LEASE_S": str(LEASE_S), "CHIRON_RENEWAL_S": "1", "CHIRON_MODEL": "offline"}
    server = settings.model_copy(update={"lease_s": LEASE_S, "renewal_s": 1.0})
    with running(settings, name="w1", **env) as worker:
        async with keyed_client(server) as client:

            async def problems() -> list[str]:
                texts: list[str] = (await client.get("/v1/health")).json()["problems"]
                return texts

            while not rows(settings, "select from worker_metrics where gauges is not null"):
                assert worker.process.poll() is None
                await asyncio.sleep(0.05)
            while await problems():
                await asyncio.sleep(0.05)
            worker.send(signal.SIGSTOP)
            while psutil.Process(worker.process.pid).status() != psutil.STATUS_STOPPED:
                await asyncio.sleep(0.01)
            frozen_at = time.monotonic()
            while not (texts := await problems()):
                await asyncio.sleep(0.1)
            # Views are a second old at most, and the machine may be busy.
            assert time.monotonic() - frozen_at < LEASE_S + 3
            assert texts[0].startswith(FROZEN)
            assert "No worker answers" in (await client.get("/system")).text
            submitted = await asyncio.to_thread(chiron, settings, "submit", "tides", "-s", "Seas", **env)
            assert "No worker answers" in submitted.stderr
            assert submitted.returncode == 0
            worker.send(signal.SIGCONT)
            while await problems():
                await asyncio.sleep(0.1)
            assert "1 worker alive" in (await client.get("/")).text
