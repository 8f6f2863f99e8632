from collections.abc import AsyncIterator

import httpx2
import pytest
from support.api_server import keyed_client

from chiron_workers.settings import Settings


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the HTTP API that has its key."""
    async with keyed_client(settings) as opened:
        yield opened
