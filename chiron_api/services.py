from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder, open_embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """What one process opens once and all requests share."""

    settings: Settings
    pool: Pool
    embedder: Embedder

    def store(self) -> Store:
        """A store for one request, on behalf of the local user; use it with `async with`."""
        return Store(Session(self.pool, Caller()), self.embedder)


@asynccontextmanager
async def open_services(settings: Settings, *, pool_size: int) -> AsyncIterator[Services]:
    """Postgres and the embedder, closed at the end. Raises ServiceUnavailable where Postgres does not answer."""
    embedder = open_embedder(settings)
    try:
        async with open_pool(settings.database_url, size=pool_size) as pool:
            yield Services(settings, pool, embedder)
    finally:
        await embedder.close()
