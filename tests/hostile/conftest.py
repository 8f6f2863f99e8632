from collections.abc import AsyncIterator

import httpx2
import pytest
from support.api_server import api_client

from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the HTTP API that has its key."""
    async with api_client(settings) as opened:
        opened.headers["Authorization"] = f"Bearer {api_key(settings)}"
        yield opened
