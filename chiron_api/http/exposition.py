"""What Prometheus reads: the instruments of all workers, and what the tables know."""

import asyncio
import time

from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector

from chiron_workers.billing.spending import SPENDING_SQL
from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings
from chiron_workers.states import RunState
from chiron_workers.telemetry.worker_metrics import read_families

SQL = load(__file__, SPENDING_SQL)
KEPT_MIN_S = 5.0  # an answer, so that many who scrape cost no more than one
KEPT_MAX_S = 60.0
KEPT_FACTOR = 50  # times as long as it took: counting a million runs takes Postgres 2 % of its time
STALE_MAX_S = 120.0  # an answer that is given while the next is counted


class Exposition:
    """The metrics of the installation in Prometheus' text format.

    Once an answer has expired, the next scrape gets it all the same and has a new one counted, so that no scrape but the first
    waits for Postgres to count a million runs.
    """

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings = settings
        self._pool = pool
        self._text = b""
        self._made_at = -STALE_MAX_S
        self._lasts_s = 0.0
        self._renewal: asyncio.Task[None] | None = None

    async def text(self) -> bytes:
        """The answer to a scrape. Raises what the last attempt to count raised."""
        age_s = time.monotonic() - self._made_at
        if self._text and age_s < self._lasts_s:
            return self._text
        if self._renewal is None:
            self._renewal = asyncio.create_task(self._renew())
        renewal = self._renewal
        if renewal.done() or not self._text or age_s >= STALE_MAX_S:
            try:
                await asyncio.shield(renewal)
            finally:
                if self._renewal is renewal and renewal.done():
                    self._renewal = None
        return self._text

    async def aclose(self) -> None:
        """End a count that goes on."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)

    async def _renew(self) -> None:
        began = time.monotonic()
        self._text = generate_latest(_Families(await self.families()))
        self._made_at = time.monotonic()
        self._lasts_s = min(max(KEPT_MIN_S, KEPT_FACTOR * (self._made_at - began)), KEPT_MAX_S)
        self._renewal = None

    async def families(self) -> list[Metric]:
        """All metrics, as they are now."""
        return [*await read_families(self._pool), *await self._table_families()]

    async def _table_families(self) -> list[Metric]:
        async with self._pool.connection() as connection:
            counts = await (await connection.execute(SQL["states"])).fetchall()
            oldest = await fetch_one(connection, SQL["oldest"])
            money = await fetch_one(connection, SQL["money"])
        runs = dict.fromkeys(RunState, 0) | {RunState(row["state"]): row["runs"] for row in counts}
        by_state = Metric("chiron_runs", "Runs by state.", "gauge")
        for state, count in runs.items():
            by_state.add_sample("chiron_runs", {"state": state}, count)
        families = [
            by_state,
            _gauge(
                "chiron_oldest_queued_run_age_seconds",
                "How long the run that waits longest could have begun.",
                oldest["age_s"],
            ),
            _gauge("chiron_day_spent_usd", "USD that today (UTC) has cost.", money["spent_usd"]),
            _gauge(
                "chiron_day_reserved_usd", "USD that calls in flight have reserved.", money["reserved_usd"]
            ),
        ]
        if budget := self._settings.daily_budget_usd:
            words = "USD that a day may cost; it is there where CHIRON_DAILY_BUDGET_USD is set."
            families.append(_gauge("chiron_day_budget_usd", words, float(budget)))
        return families


class _Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _gauge(name: str, words: str, value: float) -> Metric:
    metric = Metric(name, words, "gauge")
    metric.add_sample(name, {}, value)
    return metric
