"""Commands that steer runs (cancel, pause, resume, retry): run one, notify workers and watchers, and word its outcome."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from chiron_workers.batches.steering import SteeringResult
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import Settings

Command = Callable[[Pool, UUID], Awaitable[SteeringResult]]


async def steer(pool: Pool, redis_url: str, target: UUID, command: Command) -> SteeringResult:
    """Run a command, then notify workers and watchers. Raises what the command raises."""
    from chiron_workers.pubsub.signals import notify

    effect = await command(pool, target)
    await notify(redis_url, target, effect.events, lifted=effect.lifted_models)
    return effect


async def steer_once(settings: Settings, target: UUID, command: Command) -> SteeringResult:
    """As `steer`, with a pool for this one command."""
    async with open_pool(settings.database_url, size=1) as pool:
        return await steer(pool, settings.redis_url, target, command)


def outcome(effect: SteeringResult, *, changed_words: str, asked_words: str = "") -> str:
    """One sentence about what a command did.

    Args:
        changed_words: What became of the runs that it changed at once, such as "cancelled".
        asked_words: What becomes of those whose worker was asked to act.
    """
    counts = [(changed_words, effect.changed), (asked_words, effect.requested)]
    parts = [f"{words}: {count:,} {'run' if count == 1 else 'runs'}" for words, count in counts if count]
    if effect.lifted_models:
        parts.append(f"tried again at once: {', '.join(effect.lifted_models)}")
    text = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    return f"{text[:1].upper()}{text[1:]}."
