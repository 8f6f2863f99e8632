from collections.abc import Callable
from uuid import UUID

import structlog

from chiron_workers.pubsub.cooldowns import Cooldown
from chiron_workers.pubsub.signals import signals

log = structlog.get_logger()


async def listen_for_signals(
    redis_url: str, *, on_cooldown: Callable[[Cooldown], None], on_target: Callable[[UUID], None]
) -> None:
    """Pass on what other processes notify: cool-downs, and the batches and runs that are new or steered."""
    if not redis_url:
        return
    async for signal in signals(redis_url):
        if isinstance(signal, Cooldown):
            on_cooldown(signal)
        else:
            on_target(signal)


def log_deafness(error: BaseException) -> None:
    """Log that the listening broke: requests to stop a run now wait for its next renewal, which is no reason to end."""
    log.error("hints.ended", exc_info=error)
