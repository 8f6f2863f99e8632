"""How the machine is: services, workers, what waits, what is held back, and money."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from functools import cache
from typing import Any

import psycopg
from psycopg.rows import DictRow
from psycopg_pool import PoolTimeout
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError

from chiron_api.services import Services
from chiron_workers.billing.costs import CostFilter, Costs, costs_of
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.migrate import migrations
from chiron_workers.db.queries import load as load_queries
from chiron_workers.pubsub.cooldowns import Cooldown, active_cooldowns
from chiron_workers.pubsub.redis import redis_client, write_refusal
from chiron_workers.runs.model_holds import Hold, active_holds
from chiron_workers.worker.fleet import Fleet

SQL = load_queries(__file__)
ANSWER_S = 2.0  # a service that takes longer twice is not well: once may be this process's own delay
ROWS_MAX = 50
SPENDING_FOR = timedelta(days=6)  # before today
MOMENT = timedelta(seconds=1)  # what ended as the page is read counts


@dataclass(frozen=True, slots=True)
class Service:
    """Postgres or Redis: how long it took to answer, or what is wrong with it."""

    name: str
    ms: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Broker:
    """What Redis says, and which models nobody calls now."""

    service: Service
    cooldowns: Sequence[Cooldown] = ()


@dataclass(frozen=True, slots=True)
class System:
    """How the machine is. Without Postgres all but the services is empty."""

    postgres: Service
    broker: Broker
    fleet: Fleet = field(default_factory=Fleet)
    schema: str = ""
    lacking: tuple[str, ...] = ()
    embedding: str = ""
    workers: Sequence[DictRow] = ()
    queue: Sequence[DictRow] = ()
    holds: Sequence[Hold] = ()
    costs: Costs | None = None
    duties: DictRow = field(default_factory=dict)

    @property
    def is_idle_without_workers(self) -> bool:
        """Whether runs wait and no worker is alive."""
        return bool(self.queue) and not self.fleet.workers


async def load(services: Services) -> System:
    """How the machine is now. A service that does not answer within seconds is named, and keeps nobody waiting."""
    broker, state = await asyncio.gather(_broker(services.settings.redis_url), _state(services))
    if broker.service.ms is None and services.settings.redis_url:
        broker = await _broker(services.settings.redis_url)
    postgres, fields = state
    return System(postgres, broker, await services.fleet(), embedding=services.embedder.space.model, **fields)


async def _state(services: Services) -> tuple[Service, dict[str, Any]]:
    try:
        async with asyncio.timeout(ANSWER_S):
            began = time.perf_counter()
            [clock] = await fetch_all(services.pool, SQL["clock"])
            ms = (time.perf_counter() - began) * 1_000
            return Service("Postgres", ms, f"PostgreSQL {clock['server']}"), await _fields(services, clock)
    except (psycopg.OperationalError, PoolTimeout, TimeoutError):
        return Service("Postgres", None, "It does not answer. Nothing is lost; workers wait for it."), {}


async def _fields(services: Services, clock: DictRow) -> dict[str, Any]:
    pool: Pool = services.pool
    owner = services.principal.visible_owner
    today = clock["now"].astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    costs = await costs_of(pool, CostFilter(today - SPENDING_FOR, clock["now"] + MOMENT, owner))
    [duties] = await fetch_all(pool, SQL["duties"])
    return {
        "schema": clock["schema"],
        "lacking": tuple(name for version, name in _shipped() if version > clock["version"]),
        "workers": await fetch_all(pool, SQL["workers"], {"limit": ROWS_MAX, "owner": owner}),
        "queue": await fetch_all(pool, SQL["queue"], {"limit": ROWS_MAX}),
        "holds": await active_holds(pool),
        "costs": costs,
        "duties": duties,
    }


@cache
def _shipped() -> tuple[tuple[int, str], ...]:
    return tuple((migration.version, migration.name) for migration in migrations())


async def _broker(redis_url: str) -> Broker:
    if not redis_url:
        return Broker(Service("Redis", None, "None is set. Runs go on, and events come late."))
    client = redis_client(redis_url)
    try:
        async with asyncio.timeout(ANSWER_S):
            began = time.perf_counter()
            await client.ping()
            ms = (time.perf_counter() - began) * 1_000
            refusal = await write_refusal(client)
            service = Service("Redis", None if refusal else ms, refusal or "answers")
            return Broker(service, await active_cooldowns(client))
    except (AuthenticationError, BusyLoadingError) as error:
        return Broker(
            Service("Redis", None, f"It refuses: {error}. Runs go on; others start once it does not.")
        )
    except (RedisError, OSError, TimeoutError):
        return Broker(Service("Redis", None, "It does not answer. Runs go on; what is new is seen later."))
    finally:
        await client.aclose()
