"""The instruments of all workers: each saves its own as a row, and whoever answers Prometheus adds them up."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from uuid import UUID, uuid4

from prometheus_client import Metric
from prometheus_client.samples import Sample

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.instruments import REGISTRY

SQL = load(__file__)

SAVE_INTERVAL_S = 10.0
SIGNS_PER_LEASE = 3  # saves that a worker makes in a lease's time at least
ALIVE_FOR = timedelta(seconds=6 * SAVE_INTERVAL_S)
RETIRE_AFTER = timedelta(days=1)
RETIRED_ID = UUID(int=0)
GAUGE = "gauge"
CREATED_SUFFIX = "_created"  # of samples that say since when something is counted: they cannot be added up
SUFFIXES = ("", "_total", "_bucket", "_count", "_sum")


class WorkerMetrics:
    """The instruments of this process as a row of `worker_metrics`.

    Args:
        look: Sets the gauges, right before they are saved.
    """

    def __init__(self, pool: Pool, worker: str, *, look: Callable[[], None]) -> None:
        self._pool = pool
        self._look = look
        self._worker = worker
        self._id = uuid4()
        self._is_stored = False
        self._saved: dict[str, float] = {}
        self._retired: dict[str, float] = {}

    async def save(self, *, is_last: bool = False) -> None:
        """Write what the instruments say now; with `is_last` this worker no longer counts as living.

        Raises:
            psycopg.Error, PoolTimeout: Nothing was written, or nobody knows; the next save says it again.
        """
        self._look()
        families = list(REGISTRY.collect())
        totals = _samples(families, gauges=False)
        gauges = None if is_last else json.dumps(_samples(families, gauges=True))
        async with self._pool.connection() as connection, connection.transaction():
            update = await connection.execute(SQL["update"], self._args(totals, gauges))
            if update.rowcount == 0:
                # Somebody took this process for dead, and what it had saved into the sums.
                if self._is_stored:
                    self._id, self._retired = uuid4(), self._saved
                await connection.execute(SQL["insert"], self._args(totals, gauges))
            retirement = {"retired_id": RETIRED_ID, "retire_after": RETIRE_AFTER}
            await connection.execute(SQL["retire"], retirement)
        self._is_stored, self._saved = True, totals

    def _args(self, totals: Mapping[str, float], gauges: str | None) -> dict[str, object]:
        counters = {key: value - self._retired.get(key, 0.0) for key, value in totals.items()}
        return {
            "id": self._id,
            "worker": self._worker,
            "counters": json.dumps(counters),
            "gauges": gauges,
        }


async def read_families(pool: Pool) -> list[Metric]:
    """The instruments of all workers, added up: counters of all there ever were, gauges of those that live."""
    alive_for = {"alive_for": ALIVE_FOR}
    async with pool.connection() as connection:
        rows = await (await connection.execute(SQL["sums"], alive_for)).fetchall()
        alive = await fetch_one(connection, SQL["alive"], alive_for)
    sums = {row["key"]: row["value"] for row in rows}
    workers = Metric("chiron_workers", "Workers that have saved their metrics within a minute.", GAUGE)
    workers.add_sample("chiron_workers", {}, float(alive["workers"]))
    return [*_families(sums), workers]


def _families(sums: Mapping[str, float]) -> Iterable[Metric]:
    """Every instrument with its sums. One without labels is 0 where nobody has counted yet."""
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for key, value in sums.items():
        values[_parsed(key)[0]][key] = value
    for instrument in REGISTRY.collect():
        for sample in instrument.samples:
            if set(sample.labels) <= {"le"}:
                values[sample.name].setdefault(_key(sample), 0.0)
        family = Metric(instrument.name, instrument.documentation, instrument.type)
        for suffix in SUFFIXES:
            for key, value in values[f"{family.name}{suffix}"].items():
                family.add_sample(*_parsed(key), value)
        family.samples.sort(key=_order)
        yield family


def _samples(families: Iterable[Metric], *, gauges: bool) -> dict[str, float]:
    return {
        _key(sample): sample.value
        for family in families
        if (family.type == GAUGE) is gauges
        for sample in family.samples
        if not sample.name.endswith(CREATED_SUFFIX)
    }


def _key(sample: Sample) -> str:
    return json.dumps([sample.name, sorted(sample.labels.items())])


def _parsed(key: str) -> tuple[str, dict[str, str]]:
    name, labels = json.loads(key)
    return name, dict(labels)


def _order(sample: Sample) -> tuple[list[tuple[str, str]], str, float]:
    # A histogram's buckets stand together, by their bounds.
    series = sorted((label, value) for label, value in sample.labels.items() if label != "le")
    return series, sample.name, float(sample.labels.get("le", math.inf))
