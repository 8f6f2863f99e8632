"""Topics in the queue of real workers, and the check that all rows agree once the workers are done."""

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

MODEL = "claude-opus-5-5"
TURNS_MAX = 50


async def enqueue(settings: Settings, *topics: str) -> None:
    """Submit a batch with a run for each topic."""
    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(topic, "research", "Physics", MODEL, TURNS_MAX) for topic in topics]
        await submit(pool, NewBatch(runs, "Physics"))


def assert_rows_agree(settings: Settings) -> None:
    """Compare journal, results, events and costs of all runs with each other."""
    with snapshot(settings.database_url) as connection:
        assert list(among_rows(connection)) == []
