from collections.abc import AsyncIterator

import pytest
from stage import Stage, open_stage

from chiron_workers.embed import Embedder
from chiron_workers.settings import Settings
from chiron_workers.store.connect import Pool


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with open_stage(pool, settings, embedder) as made:
        yield made
