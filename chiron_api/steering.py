"""Commands that steer runs (cancel, pause, resume, retry) of any front end: run one, then notify workers and watchers."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from chiron_workers.batches.steering import SteeringResult
from chiron_workers.db.connect import Pool

Command = Callable[[Pool, UUID], Awaitable[SteeringResult]]


async def steer(pool: Pool, redis_url: str, target: UUID, command: Command) -> SteeringResult:
    """Run a command, then notify workers and watchers. Raises what the command raises."""
    from chiron_workers.pubsub.signals import notify

    effect = await command(pool, target)
    await notify(redis_url, target, effect.events, lifted=effect.lifted_models)
    return effect
