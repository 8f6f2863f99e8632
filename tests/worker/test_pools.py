"""Celery's pools: a worker plays its runs in one event loop, so every pool but threads is refused."""

import pytest
from support.worker_processes import running

from chiron_workers.settings import Settings
from chiron_workers.tasks import requested_pool

ADVICE = (
    "is not supported: one process plays all its runs in one event loop. Leave -P out, or say -P threads;"
)


@pytest.mark.acceptance
def test_a_worker_with_another_pool_is_refused_with_a_sentence(settings: Settings) -> None:
    with (
        running(settings, "-P", "prefork", name="p") as prefork,
        running(settings, "-P", "solo", name="s") as solo,
    ):
        for worker, pool in ((prefork, "prefork"), (solo, "solo")):
            assert worker.process.wait(90) == 2
            log = worker.log.read_text()
            assert f"chiron: the pool '{pool}' {ADVICE}" in log
            assert "Traceback" not in log


@pytest.mark.parametrize(
    ("arguments", "pool"),
    [
        (["worker"], ""),
        (["-A", "chiron_workers", "worker", "-P", "prefork", "-c", "4"], "prefork"),
        (["worker", "-Psolo"], "solo"),
        (["worker", "--pool=processes"], "processes"),
        (["worker", "--pool", "threads"], "threads"),
    ],
)
def test_the_pool_is_read_from_every_spelling(arguments: list[str], pool: str) -> None:
    assert requested_pool(arguments) == pool
