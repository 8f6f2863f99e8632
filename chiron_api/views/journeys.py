"""A journey as front ends show it: where it stands, what it cost and what comes next."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chiron_api.answers.journeys import Journey
from chiron_api.text import count
from chiron_workers.db.connect import Pool
from chiron_workers.learning import journeys as engine
from chiron_workers.learning.journey_orders import spent_usd, step_batches
from chiron_workers.learning.teaching import WayNode, load_way
from chiron_workers.runs.session import Session
from chiron_workers.states import JourneyEvent, JourneyState

NOT_TAUGHT = (
    "You know what can be taught; of {nodes} of the goal nothing is known. Add documents or another search, and start it again, "
    "with a new map (`again`)."
)
# What comes next, by state, and of an idle journey by what led there.
_NEXT: Mapping[JourneyState | JourneyEvent, str] = MappingProxyType(
    {
        JourneyState.INITIALIZING: "A run draws the map up; then research fills it.",
        JourneyState.RESEARCHING: "Runs research what the map lacks; then questions are written about {node}.",
        JourneyState.ASSESSING: "Questions are written about {node}; then its lesson.",
        JourneyState.GENERATING_LESSON: "The lesson on {node} is written; then you read it.",
        JourneyState.DELIVERING_LESSON: "The lesson on {node} waits for you; then three questions about it.",
        JourneyState.EXERCISING: "Questions about {node} wait for you; your answers decide what comes next.",
        JourneyEvent.MASTERED: "You know what the goal needs; a review follows when one is due.",
        JourneyEvent.PAUSED: "It goes on once what is paused goes on, or with a higher budget.",
        JourneyEvent.RUN_FAILED: "Resume it: what has used all its turns continues, and anything else is tried again.",
        JourneyEvent.NOTHING_FOUND: "Add documents or another search, and start it again.",
        JourneyEvent.CANCELLED: "Resume it to go on where it was.",
    }
)


async def view_of(pool: Pool, journey: engine.Journey) -> Journey:
    """What front ends show of a journey."""
    session = Session(pool, journey.caller)
    way = tuple(await load_way(session, journey.subject_id))
    node = next((item.title for item in way if item.node_id == str(journey.node_id)), None)
    batches = await step_batches(session, journey) if journey.ordered_at is not None else []
    return Journey.model_validate(
        {
            "journey_id": journey.id,
            "subject_id": journey.subject_id,
            "goal": journey.purpose,
            "depth": journey.depth,
            "state": journey.state,
            "event": journey.event,
            "reason": journey.reason,
            "held_state": journey.held_state,
            "since": journey.moved_at,
            "node_id": journey.node_id,
            "node": node,
            "quiz_id": journey.quiz_id,
            "batches": tuple(batch.batch_id for batch in batches if batch.under_way or batch.paused),
            "model": journey.model,
            "spent_usd": await spent_usd(session, journey),
            "budget_usd": journey.budget_usd,
            "way": way,
            "next_review_at": await engine.next_review_at(session, journey),
            "next_step": _next_step(journey, node, way),
            "created_at": journey.created_at,
            "moves": tuple(await engine.moves_of(session, journey)),
        }
    )


def _next_step(journey: engine.Journey, node: str | None, way: Sequence[WayNode]) -> str:
    gaps = sum(not item.is_mastered for item in way)
    if journey.state is JourneyState.IDLE and journey.event is JourneyEvent.MASTERED and gaps:
        return NOT_TAUGHT.format(nodes=count(gaps, "node"))
    key = journey.event if journey.state is JourneyState.IDLE else journey.state
    fallback = "what is due" if journey.state is JourneyState.EXERCISING else "what comes first"
    return _NEXT[key].format(node=node or fallback)
