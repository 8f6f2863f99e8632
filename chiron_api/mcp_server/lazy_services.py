import asyncio
import logging
from contextlib import AsyncExitStack

from chiron_api.services import Services, open_services
from chiron_workers.db.connect import connect
from chiron_workers.db.outages import is_outage
from chiron_workers.errors import ConfigurationError, ServiceUnavailable
from chiron_workers.problems import change_setting
from chiron_workers.settings import settings

LOG = logging.getLogger(__name__)
POOL_WAIT_S = 5.0  # a client that waits for an answer should learn of an outage soon
DATABASE_AWAY = (
    "The database cannot be reached. Do the services of Chiron run, and is CHIRON_DATABASE_URL right? This server stays up: "
    "call again then."
)


class LazyServices:
    """The services of a process that stays up without them; the first call that needs them opens them."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._services: Services | None = None
        self._resources = AsyncExitStack()

    async def get(self) -> Services:
        """The services, opened if they are not yet; the settings are read anew at each try.

        Raises:
            ConfigurationError: No database is known, or a setting has a value that cannot be used.
            ServiceUnavailable: Postgres does not answer.
        """
        async with self._lock:
            if self._services is None:
                self._services = await self._open()
            return self._services

    async def check_outage(self, error: BaseException | None) -> bool:
        """Whether an error of a call means that Postgres went away; the pool is then rid of broken connections."""
        if error is None or not is_outage(error):
            return False
        _log(error)
        if self._services is not None:
            await self._services.pool.check()  # else each broken connection would fail one more call
        return True

    async def close(self) -> None:
        """Close the services, if they are open."""
        self._services = None
        await self._resources.aclose()

    async def _open(self) -> Services:
        settings.cache_clear()  # `chiron up` may have started the services since
        config = settings()
        if not config.database_url:
            remedy = change_setting("CHIRON_DATABASE_URL")
            raise ConfigurationError("No database is known where this server runs.", remedies=(remedy,))
        try:  # A pool would wait for ten seconds where a single connection is refused at once.
            (await asyncio.to_thread(connect, config.database_url)).close()
        except ServiceUnavailable as error:
            _log(error)
            raise ServiceUnavailable(DATABASE_AWAY) from None
        services = await self._resources.enter_async_context(
            open_services(config, pool_size=config.pool_size)
        )
        services.pool.timeout = POOL_WAIT_S
        return services


def _log(error: BaseException) -> None:
    LOG.warning("%s", " ".join(str(error).split()))  # it names hosts and users, so callers do not get it
