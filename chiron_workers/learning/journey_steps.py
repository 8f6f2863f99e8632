"""What a journey does in each state: what it orders there, and which event follows once that is done."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from chiron_workers.batches.submit import Submitted
from chiron_workers.billing.budgets import USD_MIN, Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, NotFound, ToolValidationError
from chiron_workers.knowledge.assessment.questions import Questions
from chiron_workers.knowledge.assessment.quizzes import NoQuestions, Quiz, Quizzes
from chiron_workers.knowledge.assessment.reviews import Reviews
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.lessons.reading import latest_lesson
from chiron_workers.learning.curriculum_orders import CurriculumOptions, Goal, submit_curriculum
from chiron_workers.learning.journey_orders import (
    load_orders,
    lock_orders,
    note_orders,
    note_quiz,
    spent_usd,
    step_batches,
)
from chiron_workers.learning.journeys import Journey, is_review_due
from chiron_workers.learning.lesson_orders import order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_marking, order_questions
from chiron_workers.learning.research_rounds import RoundOptions, RoundState, research_round
from chiron_workers.learning.teaching import load_way, next_node, teachable_nodes
from chiron_workers.learning.transitions import WORKING_STATES
from chiron_workers.runs.session import Session
from chiron_workers.states import JourneyEvent, JourneyState

QUESTIONS = 3  # of an exercise
REVIEWS = 10  # of a review
NODE_GONE = "The node that was to be taught is gone. Begin again, and the next one is taught."


class BudgetReached(Exception):
    """The journey has spent what it may."""


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a look: an event, or what was ordered. Neither: there is nothing to do but wait."""

    event: JourneyEvent | None = None
    reason: str = ""
    batch_ids: tuple[UUID, ...] | None = None
    node_id: UUID | None = None


WAIT = Step()


async def take_step(pool: Pool, journey: Journey) -> Step:
    """Order what the state of a journey needs, or find that it is done. A second look orders nothing twice.

    Raises:
        BudgetReached: It has no money left to order anything with.
        ChironError: What it needs cannot be ordered; the message says why.
    """
    if journey.state in WORKING_STATES and journey.ordered_at is None:
        batch_ids, node_id = await load_orders(pool, journey)
        if batch_ids:  # whoever ordered them was cut off before noting that
            return Step(batch_ids=tuple(batch_ids), node_id=node_id)
    return await _STEPS[journey.state](pool, journey)


async def remaining_budget(pool: Pool, journey: Journey) -> Budget:
    """What it may still spend. Raises BudgetReached."""
    if journey.budget_usd is None:
        return Budget()
    remaining_usd = journey.budget_usd - await spent_usd(Session(pool), journey)
    if remaining_usd < USD_MIN:
        raise BudgetReached(f"The journey has spent its budget of {journey.budget_usd:.2f} USD.")
    return Budget(remaining_usd)


async def _initialize(pool: Pool, journey: Journey) -> Step:
    if not journey.needs_map or journey.ordered_at is not None:
        if await load_way(Session(pool), journey.subject_id):
            return Step(JourneyEvent.MAPPED)
        if not journey.needs_map or await _has_own_orders(pool, journey):
            return Step(JourneyEvent.NOTHING_FOUND, "The map has no node that the goal needs.")
    goal = Goal(journey.subject_id, journey.purpose, journey.depth)
    budget = await remaining_budget(pool, journey)
    options = CurriculumOptions(journey.model, budget, key=journey.order_key)

    async def submit() -> Submitted:
        return (await submit_curriculum(pool, goal, options, principal=journey.principal)).batch

    return Step(batch_ids=await _order(pool, journey, submit))


async def _research(pool: Pool, journey: Journey) -> Step:
    if journey.ordered_at is not None:
        return Step(JourneyEvent.ROUND_ENDED)
    budget = await remaining_budget(pool, journey)
    options = RoundOptions(facts_min=journey.facts_min, model=journey.model, budget_usd=budget.usd)
    outcome = await research_round(pool, journey.subject_id, options, principal=journey.principal)
    if outcome.open_batches:
        return Step(batch_ids=outcome.open_batches)
    if outcome.state in (RoundState.SUBMITTED, RoundState.RUNNING):
        return WAIT  # another learner has claimed the nodes and submits in a moment
    if outcome.state is RoundState.UNMAPPED:
        return Step(JourneyEvent.NOTHING_FOUND, "The map has no node that the goal needs.")
    session = Session(pool)
    way = await load_way(session, journey.subject_id)
    if await teachable_nodes(session, journey.subject_id, way):
        return Step(JourneyEvent.RESEARCHED)
    return Step(JourneyEvent.NOTHING_FOUND, "Research has found no fact that the goal needs.")


async def _assess(pool: Pool, journey: Journey) -> Step:
    session = Session(pool, journey.caller)
    node_id = journey.node_id if journey.ordered_at is not None else None
    node_id = node_id or await next_node(session, journey.subject_id, except_ids=journey.skipped_node_ids)
    if node_id is None:
        return Step(JourneyEvent.MASTERED)
    if await quizzes_of(session).has_questions(journey.subject_id, node_id):
        return Step(JourneyEvent.QUESTIONS_WRITTEN, node_id=node_id)
    if await _has_own_orders(pool, journey):
        return Step(JourneyEvent.NODE_SKIPPED, "No question was written that its facts bear out.")
    options = OrderOptions(journey.model, await remaining_budget(pool, journey), key=journey.order_key)

    async def submit() -> Submitted:
        return await order_questions(pool, journey.subject_id, node_id, options, principal=journey.principal)

    return Step(batch_ids=await _order(pool, journey, submit, node_id=node_id), node_id=node_id)


async def _write_lesson(pool: Pool, journey: Journey) -> Step:
    if journey.node_id is None:
        return Step(JourneyEvent.NOTHING_FOUND, NODE_GONE)
    lesson = await latest_lesson(pool, journey.subject_id, journey.node_id)
    if lesson is not None and not lesson.is_stale:
        return Step(JourneyEvent.LESSON_WRITTEN)
    if await _has_own_orders(pool, journey):
        return Step(JourneyEvent.NODE_SKIPPED, "No lesson was written.")
    try:
        node = await Nodes(Session(pool)).get(str(journey.node_id))
    except ToolValidationError:
        return Step(JourneyEvent.NOTHING_FOUND, NODE_GONE)
    options = OrderOptions(journey.model, await remaining_budget(pool, journey), key=journey.order_key)

    async def submit() -> Submitted:
        return await order_lesson(pool, journey.subject_id, node, options, principal=journey.principal)

    return Step(batch_ids=await _order(pool, journey, submit, node_id=journey.node_id))


async def _deliver(pool: Pool, journey: Journey) -> Step:
    """Wait for the learner, who reads the lesson; one that became stale meanwhile is written again."""
    if journey.node_id is None:
        return WAIT
    lesson = await latest_lesson(pool, journey.subject_id, journey.node_id)
    return Step(JourneyEvent.LESSON_STALE) if lesson is None or lesson.is_stale else WAIT


async def _exercise(pool: Pool, journey: Journey) -> Step:
    if journey.ordered_at is None:
        return await _start_quiz(pool, journey)
    return await _after_quiz(pool, journey)


async def _start_quiz(pool: Pool, journey: Journey) -> Step:
    """Start the quiz and note it in one transaction: a worker that is late must not start another after its end."""
    count = QUESTIONS if journey.node_id else REVIEWS
    try:
        async with Session(pool, journey.caller) as session:
            if not await note_orders(session, journey, ()):
                return WAIT
            quiz, _ = await quizzes_of(session).start(journey.subject_id, journey.node_id, count=count)
            await note_quiz(session, journey, quiz.id)
    except (NoQuestions, NotFound):
        return Step(JourneyEvent.QUIZ_FINISHED)
    return WAIT


async def _after_quiz(pool: Pool, journey: Journey) -> Step:
    """Have marked what rules left open, before mastery decides what comes next."""
    session = Session(pool, journey.caller)
    quiz = await _find_quiz(session, journey.quiz_id)
    if quiz is None:
        return Step(JourneyEvent.QUIZ_FINISHED)
    if not quiz.is_finished:
        return WAIT
    batch = (await order_marking(pool, quiz, principal=journey.principal)).batch
    if batch is None or batch.batch_id in {row.batch_id for row in await step_batches(session, journey)}:
        return Step(JourneyEvent.QUIZ_FINISHED)
    return Step(batch_ids=(batch.batch_id,))


async def _find_quiz(session: Session, quiz_id: UUID | None) -> Quiz | None:
    if quiz_id is None:
        return None
    try:
        return await quizzes_of(session).get(quiz_id)
    except NotFound:
        return None


async def _rest(pool: Pool, journey: Journey) -> Step:
    """Go on where a review is due, or where what was paused goes on."""
    session = Session(pool)
    if journey.event is JourneyEvent.MASTERED and await is_review_due(session, journey):
        return Step(JourneyEvent.REVIEW_DUE)
    if journey.event is JourneyEvent.PAUSED and journey.ordered_at is not None:
        batches = await step_batches(session, journey)
        return WAIT if any(batch.paused for batch in batches) else Step(JourneyEvent.RESUMED)
    return WAIT


async def _order(
    pool: Pool, journey: Journey, submit: Callable[[], Awaitable[Submitted]], *, node_id: UUID | None = None
) -> tuple[UUID, ...]:
    """Order what a step needs, unless another learner has it ordered; what is ordered is noted."""
    async with Session(pool) as session:
        batch_ids = await lock_orders(session, journey, node_id)
        if journey.ordered_at is not None or not batch_ids:  # the other's came to nothing
            batch_ids = [await _submit_once(pool, journey, submit)]
        await note_orders(session, journey, batch_ids, node_id=node_id)
    return tuple(batch_ids)


async def _submit_once(pool: Pool, journey: Journey, submit: Callable[[], Awaitable[Submitted]]) -> UUID:
    try:
        return (await submit()).batch_id
    except Conflict:  # another worker has ordered it in the meantime, in other words
        batch_ids, _ = await load_orders(pool, journey)
        if not batch_ids:
            raise
        return batch_ids[0]


async def _has_own_orders(pool: Pool, journey: Journey) -> bool:
    """Whether its present step has ordered something itself, rather than waited for what another learner has ordered."""
    if journey.ordered_at is None:
        return False
    return any(batch.is_own for batch in await step_batches(Session(pool), journey))


def quizzes_of(session: Session) -> Quizzes:
    """The quizzes of the learner who is the session's owner."""
    return Quizzes(session, Questions(session, Verdicts(session, None)), Reviews(session))


_STEPS: Mapping[JourneyState, Callable[[Pool, Journey], Awaitable[Step]]] = MappingProxyType(
    {
        JourneyState.IDLE: _rest,
        JourneyState.INITIALIZING: _initialize,
        JourneyState.RESEARCHING: _research,
        JourneyState.ASSESSING: _assess,
        JourneyState.GENERATING_LESSON: _write_lesson,
        JourneyState.DELIVERING_LESSON: _deliver,
        JourneyState.EXERCISING: _exercise,
    }
)
