"""Acts on journeys that front ends share: each is followed by the steps that can be taken at once, as a worker takes them."""

from uuid import UUID

from chiron_api.steering import steer
from chiron_workers.batches import steering
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, NotFound
from chiron_workers.learning import starts
from chiron_workers.learning.journeys import Journey, load_journey, own_open_batches, require_journey
from chiron_workers.learning.orchestrator import advance
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
    from chiron_workers.pubsub.signals import notify

    for _ in range(LOOKS_MAX):
        outcome = await advance(pool, journey)
        for batch_id in outcome.batch_ids:
            await notify(redis_url, batch_id)
        journey = await require_journey(pool, journey.learner, journey.subject_id)
        if not outcome.has_changed:
            break
    return journey


async def stop_journey(pool: Pool, redis_url: str, journey: Journey) -> Journey:
    """Cancel what a journey has under way, and hold it; the journey as it is then. Raises Conflict where it stands still."""
    if journey.state is JourneyState.IDLE:
        raise Conflict(f"The journey through {journey.subject_id} stands still already.")
    for batch_id in await own_open_batches(pool, journey):
        await steer(pool, redis_url, batch_id, steering.cancel)
    await starts.stop(pool, journey)
    return await require_journey(pool, journey.learner, journey.subject_id)
