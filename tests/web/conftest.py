from collections.abc import AsyncIterator, Callable

import pytest
from support.run_harness import Stage, open_stage
from support.scripted_sites import Site, serving

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.settings import Settings


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with open_stage(pool, settings, embedder) as opened:
        yield opened


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as opened:
        yield opened


@pytest.fixture
async def other_site() -> AsyncIterator[Site]:
    async with serving("127.0.0.2") as opened:
        yield opened


@pytest.fixture(autouse=True)
def on_loopback(setting: Callable[[str, str], None]) -> None:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
