"""Acts on journeys that front ends share: each is followed by the steps that can be taken at once, as a worker takes them."""

import contextlib
from decimal import Decimal
from functools import partial
from uuid import UUID

from chiron_api.steering import steer
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches import steering
from chiron_workers.billing.budgets import USD_MIN, Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.learning import starts
from chiron_workers.learning.journey_orders import load_paused, own_open_batches, spent_usd
from chiron_workers.learning.journeys import Journey, load_journey, require_journey
from chiron_workers.runs.session import Session
from chiron_workers.states import JourneyState

LOOKS_MAX = 20  # of one act; workers go on with the rest


async def own_journey(pool: Pool, journey_id: UUID, learner: str) -> Journey:
    """A journey of a learner by its id. Raises NotFound, also where it is somebody else's."""
    journey = await load_journey(pool, journey_id)
    if journey is None or journey.learner != learner:
        raise NotFound(f"There is no journey with the id {journey_id}.")
    return journey


async def go_on(pool: Pool, redis_url: str, journey: Journey) -> Journey:
    """Take the steps that can be taken now, and notify the workers of what is ordered; the journey as it is then."""
    from chiron_workers.learning.orchestrator import advance
    from chiron_workers.pubsub.signals import notify

    for _ in range(LOOKS_MAX):
        outcome = await advance(pool, journey)
        for batch_id in outcome.batch_ids:
            await notify(redis_url, batch_id)
        journey = await require_journey(pool, journey.learner, journey.subject_id)
        if not outcome.has_changed:
            break
    return journey


async def finish_lesson(pool: Pool, redis_url: str, journey: Journey) -> Journey:
    """Note that the learner has read the lesson, and go on; the journey as it is then. Raises Conflict where none waits."""
    await starts.lesson_read(pool, journey)
    return await go_on(pool, redis_url, await require_journey(pool, journey.learner, journey.subject_id))


async def resume_journey(
    pool: Pool, redis_url: str, journey: Journey, *, budget_usd: Decimal | None, principal: Principal = LOCAL
) -> Journey:
    """Have a journey go on that is held, and with it what it has ordered and is paused; the journey as it is then.

    Args:
        budget_usd: What it may cost as a whole; None leaves that as it is.

    Raises:
        Conflict: It is under way, or what is paused has no money left.
        UsageError: The budget cannot be used, or is spent.
    """
    total_usd = budget_usd or journey.budget_usd
    room_usd = None if total_usd is None else total_usd - await spent_usd(Session(pool), journey)
    if room_usd is not None and room_usd < USD_MIN:
        raise UsageError(
            f"The journey has spent its budget of {total_usd:.2f} USD; name a higher one (--budget-usd, budget_usd)."
        )
    paused = await load_paused(pool, journey) if journey.state is JourneyState.IDLE else {}
    share_usd = None if room_usd is None or not paused else (room_usd / len(paused)).quantize(USD_MIN)
    for target, spent in paused.items():
        budget = Budget(None if share_usd is None else spent + share_usd)
        await steer(pool, redis_url, target, partial(steering.resume, budget=budget, principal=principal))
    try:
        await starts.resume(pool, journey.subject_id, budget_usd=budget_usd, principal=principal)
    except Conflict:
        if not paused:
            raise
        # A worker has seen first that what was paused goes on.
        async with Session(pool) as session:
            await starts.change_budget(session, journey, budget_usd, principal=principal)
    journey = await require_journey(pool, journey.learner, journey.subject_id)
    return await go_on(pool, redis_url, journey)


async def stop_journey(pool: Pool, redis_url: str, journey: Journey) -> Journey:
    """Hold a journey, and cancel what it has under way; the journey as it is then. Raises Conflict where it stands still."""
    if journey.state is JourneyState.IDLE:
        raise Conflict(f"The journey through {journey.subject_id} stands still already.")
    # Held first: a worker that moves it meanwhile would order what nobody cancels.
    while not await starts.stop(pool, journey):
        journey = await require_journey(pool, journey.learner, journey.subject_id)
        if journey.state is JourneyState.IDLE:
            break
    for batch_id in await own_open_batches(pool, journey):
        with contextlib.suppress(Conflict):  # it has ended meanwhile
            await steer(pool, redis_url, batch_id, steering.cancel)
    return await require_journey(pool, journey.learner, journey.subject_id)
