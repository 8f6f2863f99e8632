"""How long an answer to Prometheus lasts, and who waits for the next one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import psycopg
import pytest
from psycopg_pool import PoolClosed

from chiron_api.http import exposition as module
from chiron_api.http.exposition import Exposition
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.queries import sql
from chiron_workers.settings import Settings

LOCK = sql.SQL("lock table runs in access exclusive mode")


@pytest.fixture
async def exposition(
    settings: Settings, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Exposition]:
    """Each of its answers expires at once."""
    monkeypatch.setattr(module, "KEPT_MIN_S", 0.0)
    monkeypatch.setattr(module, "KEPT_FACTOR", 0)
    async with aclosing(Exposition(settings, pool)) as each:
        yield each


async def test_a_scrape_gets_the_answer_before_while_the_next_is_counted(
    exposition: Exposition, settings: Settings
):
    first = await exposition.text()
    assert b"chiron_runs{" in first
    async with await psycopg.AsyncConnection.connect(settings.database_url) as connection:
        await connection.execute(LOCK)
        for _ in range(3):
            assert await asyncio.wait_for(exposition.text(), timeout=30) is first
    while await exposition.text() is first:  # ends: nobody holds the lock any more
        await asyncio.sleep(0.01)


async def test_an_answer_that_is_too_old_is_given_to_nobody(
    exposition: Exposition, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    first = await exposition.text()
    monkeypatch.setattr(module, "STALE_MAX_S", 0.0)
    async with await psycopg.AsyncConnection.connect(settings.database_url) as connection:
        await connection.execute(LOCK)
        scrapes = [asyncio.create_task(exposition.text()) for _ in range(3)]
        finished, _ = await asyncio.wait(scrapes, timeout=0.3)
        assert not finished
    second, *others = await asyncio.gather(*scrapes)
    assert second is not first
    assert all(text is second for text in others), "one count for all who wait"


async def test_a_count_that_failed_is_said_to_the_next_scrape_and_tried_again_after_it(settings: Settings):
    async with open_pool(settings.database_url, size=1) as pool:
        exposition = Exposition(settings, pool)
        await exposition.text()
    exposition._lasts_s = 0.0
    for _ in range(2):
        await exposition.text()
        renewal = exposition._renewal
        assert renewal
        await asyncio.wait([renewal])
        with pytest.raises(PoolClosed):
            await exposition.text()
