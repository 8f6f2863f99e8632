"""Which event leads a journey from which state to which; everything else is refused."""

from collections.abc import Mapping
from types import MappingProxyType

from chiron_workers.errors import Conflict
from chiron_workers.states import JourneyEvent, JourneyState

WORKING_STATES = (
    JourneyState.INITIALIZING,
    JourneyState.RESEARCHING,
    JourneyState.ASSESSING,
    JourneyState.GENERATING_LESSON,
)
# Each leaves the journey idle.
HOLDS = (JourneyEvent.PAUSED, JourneyEvent.RUN_FAILED, JourneyEvent.NOTHING_FOUND)

TRANSITIONS: Mapping[tuple[JourneyState, JourneyEvent], JourneyState] = MappingProxyType(
    {
        (JourneyState.IDLE, JourneyEvent.STARTED): JourneyState.INITIALIZING,
        (JourneyState.IDLE, JourneyEvent.REVIEW_DUE): JourneyState.EXERCISING,
        (JourneyState.INITIALIZING, JourneyEvent.MAPPED): JourneyState.RESEARCHING,
        (JourneyState.RESEARCHING, JourneyEvent.ROUND_ENDED): JourneyState.RESEARCHING,
        (JourneyState.RESEARCHING, JourneyEvent.RESEARCHED): JourneyState.ASSESSING,
        (JourneyState.ASSESSING, JourneyEvent.QUESTIONS_WRITTEN): JourneyState.GENERATING_LESSON,
        (JourneyState.ASSESSING, JourneyEvent.MASTERED): JourneyState.IDLE,
        (JourneyState.ASSESSING, JourneyEvent.NODE_SKIPPED): JourneyState.ASSESSING,
        (JourneyState.GENERATING_LESSON, JourneyEvent.NODE_SKIPPED): JourneyState.ASSESSING,
        (JourneyState.GENERATING_LESSON, JourneyEvent.LESSON_WRITTEN): JourneyState.DELIVERING_LESSON,
        (JourneyState.DELIVERING_LESSON, JourneyEvent.LESSON_STALE): JourneyState.GENERATING_LESSON,
        (JourneyState.DELIVERING_LESSON, JourneyEvent.LESSON_READ): JourneyState.EXERCISING,
        (JourneyState.EXERCISING, JourneyEvent.QUIZ_FINISHED): JourneyState.ASSESSING,
        **{(state, event): JourneyState.IDLE for state in WORKING_STATES for event in HOLDS},
        **{
            (state, JourneyEvent.CANCELLED): JourneyState.IDLE
            for state in JourneyState
            if state is not JourneyState.IDLE
        },
    }
)


def next_state(
    state: JourneyState, event: JourneyEvent, held_state: JourneyState | None = None
) -> JourneyState:
    """The state that an event leads to.

    Args:
        held_state: In which an idle journey was when it was held; `resumed` leads back there.

    Raises:
        Conflict: The event does not happen in this state.
    """
    if event is JourneyEvent.RESUMED and state is JourneyState.IDLE and held_state is not None:
        return held_state
    target = TRANSITIONS.get((state, event))
    if target is None:
        raise Conflict(
            f"The journey is {state.replace('_', ' ')}, and {event.replace('_', ' ')} does not happen there."
        )
    return target
