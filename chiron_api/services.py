from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.runs.events import Event
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings

if TYPE_CHECKING:  # what showing the help of a command does without
    from chiron_workers.embeddings import Embedder
    from chiron_workers.pubsub.streams import Streams
    from chiron_workers.store import Store
    from chiron_workers.worker.fleet import Fleet, SharedFleet


@dataclass(frozen=True, slots=True)
class Services:
    """What one process opens once and all requests share."""

    settings: Settings
    pool: Pool
    find_embedder: "Callable[[], Embedder]"  # opened at its first use: steering needs none
    streams: "Streams"  # connected to Redis while somebody watches
    shared_fleet: "SharedFleet"
    principal: Principal = LOCAL  # on whose behalf they are used

    async def fleet(self) -> "Fleet":
        """The health of the installation, at most a second old; without money for a principal that sees its own batches alone."""
        fleet = await self.shared_fleet.now()
        return fleet if self.principal.visible_owner is None else fleet.without_money()

    @property
    def embedder(self) -> "Embedder":
        """What makes vectors of texts. Raises ConfigurationError where a setting of it is missing."""
        return self.find_embedder()

    def session(self) -> Session:
        """A session for one request that needs no embedder; use it with `async with`."""
        principal = self.principal
        is_admin = principal.visible_owner is None
        return Session(self.pool, Caller(principal.owner, key_id=principal.key_id, is_admin=is_admin))

    def store(self) -> "Store":
        """A store for one request; use it with `async with`."""
        from chiron_workers.billing.key_meter import KeyMeter
        from chiron_workers.billing.metered_embedder import metered
        from chiron_workers.store import Store

        principal, session = self.principal, self.session()
        if principal.key_id is None:
            return Store(session, self.embedder)
        meter = KeyMeter(self.pool, principal, principal.key_id)
        return Store(session, metered(self.embedder, self.settings, meter), meter=meter)

    async def notify(self, *targets: UUID, events: Sequence[Event] = (), lifted: Sequence[str] = ()) -> None:
        """Signal to the workers batches and runs that are new or steered; call it after the commit.

        Args:
            events: What watchers are told.
            lifted: Models that may be called again at once.
        """
        from chiron_workers.pubsub.signals import notify  # the client of Redis, which reading does without

        for target in targets:
            await notify(self.settings.redis_url, target, events, lifted=lifted)

    def of(self, principal: Principal) -> "Services":
        """The same services on behalf of somebody."""
        return replace(self, principal=principal)


@asynccontextmanager
async def open_services(settings: Settings, *, pool_size: int) -> AsyncIterator[Services]:
    """Postgres and the embedder, closed at the end. Raises ServiceUnavailable where Postgres does not answer."""
    from chiron_workers.embeddings import open_embedder
    from chiron_workers.pubsub.streams import Streams
    from chiron_workers.worker.fleet import SharedFleet

    async with AsyncExitStack() as stack:

        @cache
        def find_embedder() -> "Embedder":
            embedder = open_embedder(settings)
            stack.push_async_callback(embedder.close)
            return embedder

        pool = await stack.enter_async_context(open_pool(settings.database_url, size=pool_size))
        shared_fleet = await stack.enter_async_context(aclosing(SharedFleet(pool, settings)))
        yield Services(settings, pool, find_embedder, Streams(pool, settings.redis_url), shared_fleet)
