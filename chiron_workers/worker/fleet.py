"""The health of the installation in one line: workers, Redis, how long runs wait, and money today."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.billing.spending import SPENDING_SQL
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings

if TYPE_CHECKING:
    from redis.asyncio import Redis

SQL = load(__file__, SPENDING_SQL)
ALIVE_MAX = timedelta(seconds=60)  # without a sign, however long leases are
SILENT_FOR = timedelta(minutes=10)  # a worker without a sign is spoken of; then it is gone
WAITING_MAX = 1_001  # runs that are counted
KEPT_S = 1.0
ANSWER_S = 1.0  # that a service may take for its part
POSTGRES_AWAY = "Postgres does not answer"
REDIS_AWAY = "Redis does not answer"
NO_REDIS = "no Redis is set"


@dataclass(frozen=True, slots=True)
class Fleet:
    """The health of the installation. Counts from Postgres are 0 while it is away.

    Args:
        workers: Those that gave a sign within a lease's time.
        silent_workers: Those that gave one within ten minutes, and none within a lease's time: frozen, killed or cut off.
        silent_s: Seconds since the last sign of the one among them that has been silent for longest.
        waiting: Runs that may start and have not; 1,001: more than a thousand.
        oldest_wait_s: Seconds that the first of them has waited.
        spent_today_usd: Spent by all runs on this day (UTC), unconfirmed calls included; None: hidden from the reader.
        reserved_usd: The most that calls in flight may add.
        redis: Why Redis does not do its work; empty where it does.
    """

    has_postgres: bool = False
    redis: str = ""
    workers: int = 0
    silent_workers: int = 0
    silent_s: float = 0.0
    running: int = 0
    waiting: int = 0
    oldest_wait_s: float = 0.0
    spent_today_usd: Decimal | None = Decimal()
    reserved_usd: Decimal | None = Decimal()

    def without_money(self) -> "Fleet":
        """The same for readers who may not see the money of others."""
        return replace(self, spent_today_usd=None, reserved_usd=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems that stop research, the worst first."""
        return tuple(filter(None, (self._postgres_problem, self.worker_problem, self.redis)))

    @property
    def line(self) -> str:
        """All of it as one line: problems first."""
        parts = [*self.problems]
        if self.has_postgres:
            parts += [] if self.worker_problem else [self._workers]
            parts += [] if self.redis else ["Redis answers"]
            parts += [self._queue]
            parts += [] if self.spent_today_usd is None else [f"${self.spent_today_usd:,.2f} today"]
        return sentence("; ".join(parts))

    @property
    def _postgres_problem(self) -> str:
        return "" if self.has_postgres else POSTGRES_AWAY

    @property
    def worker_problem(self) -> str:
        """The problem of the workers; empty without one, or while Postgres is away."""
        if not self.has_postgres:
            return ""
        silence = f"for {_duration(self.silent_s)}"
        if self.silent_workers and self.workers:
            all_workers = self.workers + self.silent_workers
            verb = "has" if self.silent_workers == 1 else "have"
            return f"{self.silent_workers:,} of {all_workers:,} workers {verb} given no sign {silence}"
        if self.silent_workers:
            name = (
                "the worker has" if self.silent_workers == 1 else f"all {self.silent_workers:,} workers have"
            )
            return f"no worker answers: {name} given no sign {silence}"
        has_work = self.waiting or self.running
        return "no worker is alive, and runs wait for one" if has_work and not self.workers else ""

    @property
    def _workers(self) -> str:
        return (
            f"{self.workers:,} worker{'' if self.workers == 1 else 's'} alive"
            if self.workers
            else "no worker is alive"
        )

    @property
    def _queue(self) -> str:
        if not self.waiting:
            return "nothing waits"
        runs = "1,000+ runs wait" if self.waiting >= WAITING_MAX else f"{self.waiting:,} runs wait"
        runs = "1 run waits" if self.waiting == 1 else runs
        return f"{runs}, the first for {_duration(self.oldest_wait_s)}"


async def fleet_of(pool: Pool, settings: Settings, redis: "Redis | None") -> Fleet:
    """Read the health of the installation by one statement and a command of Redis. Each may take a second.

    Args:
        redis: None where none is set.
    """
    refusal, row = await asyncio.gather(_redis_refusal(redis), _row(pool, settings))
    return Fleet(redis=refusal) if row is None else fleet_from(row, redis=refusal)


async def postgres_fleet(pool: Pool, settings: Settings) -> Fleet:
    """`fleet_of` without Redis."""
    row = await _row(pool, settings)
    return Fleet() if row is None else fleet_from(row, redis="")


def fleet_from(row: Mapping[str, Any], *, redis: str) -> Fleet:
    """The fleet of a row of the statement."""
    return Fleet(has_postgres=True, redis=redis, **row)


def fleet_args(settings: Settings) -> dict[str, object]:
    """The parameters of the statement."""
    alive_for = min(timedelta(seconds=settings.lease_s), ALIVE_MAX)
    return {"alive_for": alive_for, "silent_for": SILENT_FOR, "waiting_max": WAITING_MAX}


async def read_fleet(pool: Pool, settings: Settings) -> Fleet:
    """`fleet_of`, once, with a connection to Redis of its own."""
    async with aclosing(SharedFleet(pool, settings)) as shared:
        return await shared.now()


class SharedFleet:
    """The fleet of one process: read at most once a second for all callers."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool = pool
        self._settings = settings
        self._redis: Redis | None = None
        self._fleet = Fleet()
        self._read_at = -KEPT_S
        self._reading: asyncio.Task[None] | None = None

    async def now(self) -> Fleet:
        """The health of the installation, at most a second old."""
        if time.monotonic() - self._read_at < KEPT_S:
            return self._fleet
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)
        return self._fleet

    async def aclose(self) -> None:
        """Close the connection to Redis."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._redis is not None:
            await self._redis.aclose()

    async def _read(self) -> None:
        try:
            if self._redis is None and self._settings.redis_url:
                from chiron_workers.pubsub.redis import redis_client  # which takes long to import

                self._redis = redis_client(self._settings.redis_url)
            self._fleet = await fleet_of(self._pool, self._settings, self._redis)
            self._read_at = time.monotonic()
        finally:
            self._reading = None


async def _row(pool: Pool, settings: Settings) -> Mapping[str, Any] | None:
    try:
        async with asyncio.timeout(ANSWER_S):
            [row] = await fetch_all(pool, SQL["fleet"], fleet_args(settings))
            return row
    except (psycopg.Error, PoolTimeout, TimeoutError):
        return None


async def _redis_refusal(redis: "Redis | None") -> str:
    if redis is None:
        return NO_REDIS
    from chiron_workers.pubsub.redis import write_refusal

    try:
        async with asyncio.timeout(ANSWER_S):
            refusal = await write_refusal(redis)
            return refusal.rstrip(".")
    except TimeoutError:
        return REDIS_AWAY


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.0f} h"


def sentence(problem: str) -> str:
    """A problem, or several, as a sentence."""
    return f"{problem[:1].upper()}{problem[1:]}."
