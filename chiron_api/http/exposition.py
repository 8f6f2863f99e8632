"""What Prometheus reads: the instruments of all workers, and what the tables know."""

import asyncio
import time

from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings
from chiron_workers.states import RunState
from chiron_workers.telemetry.worker_metrics import read_families

SQL = load(__file__)
KEPT_MIN_S = 5.0  # an answer, so that many who scrape cost no more than one
KEPT_MAX_S = 60.0
KEPT_FACTOR = 50  # times as long as it took: counting a million runs takes Postgres 2 % of its time


class Exposition:
    """The metrics of the installation in Prometheus' text format, no older than some seconds."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings = settings
        self._pool = pool
        self._lock = asyncio.Lock()
        self._text = b""
        self._expires_at = -1.0

    async def text(self) -> bytes:
        """The answer to a scrape."""
        async with self._lock:
            if (began := time.monotonic()) >= self._expires_at:
                self._text = generate_latest(_Families(await self.families()))
                now = time.monotonic()
                self._expires_at = now + min(max(KEPT_MIN_S, KEPT_FACTOR * (now - began)), KEPT_MAX_S)
            return self._text

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
