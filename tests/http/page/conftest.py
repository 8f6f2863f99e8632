from collections.abc import AsyncIterator

import httpx2
import pytest
from support.api_server import api_client

from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings


@pytest.fixture
async def browser(settings: Settings, pool: Pool) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that the user of this machine has signed in."""
    async with api_client(settings) as client:
        client.headers["Accept"] = "text/html"
        await client.get("/open", params={"code": await create_code(pool)})
        yield client
