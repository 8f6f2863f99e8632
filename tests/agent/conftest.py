from collections.abc import AsyncIterator

import pytest
from support.run_harness import Stage, open_stage

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.settings import Settings


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with open_stage(pool, settings, embedder) as made:
        yield made
