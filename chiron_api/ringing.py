import asyncio
import logging
from collections.abc import Sequence

from chiron_workers.errors import ConfigurationError, ServiceUnavailable
from chiron_workers.store.runs import Waiting

LOG = logging.getLogger(__name__)


async def ring_for(waiting: Sequence[Waiting]) -> None:
    """Tell the workers of runs that are committed. A broker that is away delays them, and fails nothing."""
    from chiron_workers.celery import Doorbell, ring

    doorbells = [Doorbell(run.id, run.role, run.subject, run.topic) for run in waiting]
    if not doorbells:
        return
    try:
        await asyncio.to_thread(ring, doorbells)
    except (ServiceUnavailable, ConfigurationError) as error:
        LOG.warning("%s", error)
