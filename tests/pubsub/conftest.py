from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from support.private_valkey import OwnValkey, own_valkey

from chiron_workers.pubsub.publisher import Publisher

OpenPublisher = Callable[[str], AbstractAsyncContextManager[Publisher]]


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[OwnValkey]:
    """A Valkey that a test may kill and start."""
    with own_valkey(tmp_path / "valkey") as server:
        yield server


@pytest.fixture
def open_publisher() -> OpenPublisher:
    """Publishers that are closed when a test leaves them."""

    @asynccontextmanager
    async def opened(redis_url: str) -> AsyncIterator[Publisher]:
        publisher = Publisher(redis_url)
        yield publisher
        await publisher.close()

    return opened
