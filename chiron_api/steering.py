"""What follows a command that steers runs, and what whoever gave it is told."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from chiron_workers.batches.steering import SteeringResult
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import Settings

Command = Callable[[Pool, UUID], Awaitable[SteeringResult]]


async def steer(pool: Pool, redis_url: str, target: UUID, command: Command) -> SteeringResult:
    """Give a command, then tell workers and watchers of it. Raises what the command raises."""
    from chiron_workers.pubsub.signals import notify

    steered = await command(pool, target)
    await notify(redis_url, target, steered.events, lifted=steered.lifted)
    return steered


async def steer_once(settings: Settings, target: UUID, command: Command) -> SteeringResult:
    """As `steer`, with a connection for this one command."""
    async with open_pool(settings.database_url, size=1) as pool:
        return await steer(pool, settings.redis_url, target, command)


def sentence(steered: SteeringResult, *, done: str, asked: str = "") -> str:
    """What happened, in one sentence: how many runs are `done`, and how many a worker was asked to let go of."""
    counted = [(done, steered.changed), (asked, steered.requested)]
    parts = [f"{what}: {count:,} {'run' if count == 1 else 'runs'}" for what, count in counted if count]
    if steered.lifted:
        parts.append(f"tried again at once: {', '.join(steered.lifted)}")
    said = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    return f"{said[:1].upper()}{said[1:]}."
