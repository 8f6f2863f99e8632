from collections.abc import AsyncIterator

import pytest
from anthropic import AsyncAnthropic
from support.moss_library import Conversation, Library, client_of

from chiron_workers.offline import OfflineServer


@pytest.fixture
async def client() -> AsyncIterator[AsyncAnthropic]:
    async with client_of(OfflineServer()) as opened:
        yield opened


@pytest.fixture
def conversation(client: AsyncAnthropic) -> Conversation:
    return Conversation(client, Library())
