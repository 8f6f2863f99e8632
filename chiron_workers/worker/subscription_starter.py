import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog

from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.subscriptions.occurrences import compare_occurrences
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.worker.duties import outages_logged

log = structlog.get_logger()


async def start_due_subscriptions(
    pool: Pool, settings: Settings, *, is_draining: Callable[[], bool], on_start: Callable[[], None]
) -> None:
    """Start what subscriptions have due, and compare what is finished with the time before, every `rescue_s`; never ends."""
    postponed: dict[UUID, datetime] = {}  # times due that this worker lacks something for
    while True:
        with outages_logged("due_times"):
            while not is_draining() and (due_times := await start_due(pool, postponed)):
                for due in due_times:
                    log.info(
                        f"subscription.{due.outcome}",
                        subscription_id=str(due.subscription_id),
                        due_at=due.due_at.isoformat(),
                        reason=due.reason,
                    )
                on_start()
            for batch_id in await compare_occurrences(pool):
                log.info("subscription.silent", batch_id=str(batch_id))
        await asyncio.sleep(settings.rescue_s)
