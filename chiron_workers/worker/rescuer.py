import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog

from chiron_workers.runs.journal import Journal
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import Settings
from chiron_workers.worker.duties import outages_logged

log = structlog.get_logger()


async def rescue_lost_runs(journal: Journal, settings: Settings, *, on_rescue: Callable[[], None]) -> None:
    """Release the runs whose leases ran out, every `rescue_s`; never ends."""
    lease_for, max_attempts = timedelta(seconds=settings.lease_s), settings.max_attempts
    while True:
        with outages_logged("rescue"):
            if count := await rescue(journal, lease_for=lease_for, max_attempts=max_attempts):
                log.warning("runs.rescued", runs=count)
                on_rescue()
        await asyncio.sleep(settings.rescue_s)
