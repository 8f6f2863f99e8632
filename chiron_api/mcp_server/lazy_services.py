import asyncio
import logging
from contextlib import AsyncExitStack

from chiron_api.http.requests import Services
from chiron_workers.db.connect import connect, is_outage, open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.settings import settings

LOG = logging.getLogger(__name__)
POOL_WAIT_S = 5.0  # a client that waits for an answer is better told soon
AWAY = (
    "The database cannot be reached. Is it running (`chiron status` tells, `chiron up` starts it), "
    "and is CHIRON_DATABASE_URL right? This server stays up: call again then."
)


class LateServices:
    """The services of a process that stays up without them: they are opened by the first call that needs them."""

    def __init__(self) -> None:
        self._opening = asyncio.Lock()
        self._opened: Services | None = None
        self._resources = AsyncExitStack()

    async def get(self) -> Services:
        """The services, opened if they are not yet; the settings are read anew at each try.

        Raises:
            ConfigurationError: No database is known, or a setting has a value that cannot be used.
            ServiceUnavailable: Postgres does not answer.
        """
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open()
            return self._opened

    async def are_away(self, error: BaseException | None) -> bool:
        """Whether an error of a call means that Postgres went away."""
        if error is None or not is_outage(error):
            return False
        _log(error)
        if self._opened is not None:
            await self._opened.pool.check()  # else each connection of before would fail one more call
        return True

    async def close(self) -> None:
        """Let go of what was opened."""
        self._opened = None
        await self._resources.aclose()

    async def _open(self) -> Services:
        settings.cache_clear()  # `chiron up` may have started the services since
        found = settings()
        try:  # A pool would wait for ten seconds where one connection is refused at once.
            (await asyncio.to_thread(connect, found.database_url)).close()
        except ServiceUnavailable as error:
            _log(error)
            raise ServiceUnavailable(AWAY) from None
        async with AsyncExitStack() as opening:
            embedder = open_embedder(found)
            opening.push_async_callback(embedder.close)
            pool = await opening.enter_async_context(open_pool(found.database_url, size=found.pool_size))
            pool.timeout = POOL_WAIT_S
            self._resources = opening.pop_all()
        return Services(found, pool, embedder)


def _log(error: BaseException) -> None:
    LOG.warning("%s", " ".join(str(error).split()))  # names hosts and users, so callers are not told
