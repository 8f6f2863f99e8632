"""Beginning, resuming and stopping the journey of a learner."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.billing.budgets import Budget, check_amounts, check_budget, check_model
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.learning.curriculum_orders import Goal, check_goal
from chiron_workers.learning.journeys import SQL, Journey, find_journey, move, require_journey
from chiron_workers.learning.needs import FACTS_MIN, check_facts_min
from chiron_workers.learning.research_rounds import revive
from chiron_workers.learning.teaching import load_way
from chiron_workers.problems import stop_journey
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import JourneyEvent, JourneyState


@dataclass(frozen=True, slots=True)
class JourneyOptions:
    """With which model a journey works, what it may cost as a whole, and how many facts a node needs.

    `is_fresh` where the goal is mapped anew, and nodes are tried again that research gained nothing.
    """

    model: str | None = None
    budget_usd: Decimal | None = None
    facts_min: int = FACTS_MIN
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """A journey that is under way; `is_new` where it was begun or goes on now."""

    journey: Journey
    is_new: bool


async def begin(
    pool: Pool, goal: Goal, options: JourneyOptions = JourneyOptions(), *, principal: Principal = LOCAL
) -> Start:
    """Begin the journey of a learner to a goal, or have the one go on that stands still; the caller takes its steps afterwards.

    A learner has one journey through a subject. The same goal again, while it is under way, changes nothing.

    Raises:
        UsageError: Goal, depth or an option cannot be used.
        Conflict: The journey is under way to another goal.
        ToolValidationError: The name of the subject holds no letter and no digit.
    """
    check_goal(goal)
    model = options.model or settings().model
    _check(model, options)
    async with Session(pool) as session:
        subject_id = await Subjects(session).ensure(slug(goal.subject), goal.subject)
        needs_map = await _save_goal(session, subject_id, goal) or options.is_fresh
        args = {
            "learner": principal.owner,
            "key_id": principal.key_id,
            "subject_id": subject_id,
            "purpose": goal.purpose,
            "depth": goal.depth,
            "model": model,
            "facts_min": options.facts_min,
            "budget_usd": options.budget_usd,
            "needs_map": needs_map,
        }
        is_new = await _insert(session, args) or await _go_on(session, goal, options, args)
        if options.is_fresh:
            await revive(session, subject_id)
    return Start(await require_journey(pool, principal.owner, subject_id), is_new)


async def resume(
    pool: Pool, subject_id: str, *, budget_usd: Decimal | None = None, principal: Principal = LOCAL
) -> Journey:
    """Have a journey go on that was held: where it stood, or from its goal on.

    Args:
        budget_usd: What it may cost as a whole; None leaves that as it is.

    Raises:
        NotFound: There is no journey.
        Conflict: It is under way, or somebody else moves it at this moment.
        UsageError: The budget cannot be used.
    """
    journey = await require_journey(pool, principal.owner, subject_id)
    if journey.state is not JourneyState.IDLE:
        advice = " Stopped, its budget can be raised." if budget_usd else ""
        raise Conflict(
            f"The journey through {subject_id} is under way; there is nothing to resume.{advice}",
            remedies=(stop_journey(subject_id),) if budget_usd else (),
        )
    async with Session(pool) as session:
        await change_budget(session, journey, budget_usd, principal=principal)
        event = JourneyEvent.RESUMED if journey.held_state else JourneyEvent.STARTED
        if not await move(session, journey, event):
            raise Conflict(f"The journey through {subject_id} has just been moved on; look where it stands.")
    return await require_journey(pool, principal.owner, subject_id)


async def change_budget(
    session: Session, journey: Journey, budget_usd: Decimal | None, *, principal: Principal = LOCAL
) -> None:
    """Say what a journey may cost as a whole, None for as before, and with whose key it orders. Raises UsageError."""
    _check(journey.model, JourneyOptions(budget_usd=budget_usd or journey.budget_usd))
    args = {"id": journey.id, "budget_usd": budget_usd, "key_id": principal.key_id}
    await session.write(SQL["change_budget"], args)


async def stop(pool: Pool, journey: Journey, reason: str = "") -> bool:
    """Hold a journey; cancel its batches afterwards. False where it stands still already, or somebody else has moved it."""
    if journey.state is JourneyState.IDLE:
        return False
    async with Session(pool) as session:
        return await move(session, journey, JourneyEvent.CANCELLED, reason)


async def lesson_read(pool: Pool, journey: Journey) -> bool:
    """The learner has read the lesson and wants to be asked. False where the journey has moved on meanwhile.

    Raises:
        Conflict: No lesson waits to be read.
    """
    async with Session(pool) as session:
        return await move(session, journey, JourneyEvent.LESSON_READ)


async def _save_goal(session: Session, subject_id: str, goal: Goal) -> bool:
    """Save the goal of the subject; whether it needs a map, as it is another one or has none."""
    subjects = Subjects(session)
    subject = await subjects.get(subject_id)
    is_same = (subject["purpose_statement"], subject["target_depth"]) == (goal.purpose, goal.depth)
    if not is_same:
        await subjects.save_goal(subject_id, purpose_statement=goal.purpose, target_depth=goal.depth)
    return not is_same or not await load_way(session, subject_id)


async def _insert(session: Session, args: Mapping[str, object]) -> bool:
    journey_id: UUID = new_id()
    if not await session.write(SQL["begin"], {**args, "id": journey_id}):
        return False
    await session.write(SQL["first_move"], {"id": journey_id})
    await record_within(await session.begin(), journeys=journey_id)
    return True


async def _go_on(session: Session, goal: Goal, options: JourneyOptions, args: Mapping[str, object]) -> bool:
    journey = await find_journey(session, str(args["learner"]), str(args["subject_id"]))
    assert journey is not None  # it was there a moment ago, within this transaction
    is_same = (journey.purpose, journey.depth) == (goal.purpose, goal.depth) and not options.is_fresh
    if journey.state is not JourneyState.IDLE:
        if is_same:
            return False
        raise Conflict(
            f"The journey through {journey.subject_id} is under way to the goal {journey.purpose[:80]!r}.",
            remedies=(stop_journey(journey.subject_id),),
        )
    budget_usd = options.budget_usd or journey.budget_usd  # a start without one lifts no bound
    changes = {**args, "budget_usd": budget_usd, "id": journey.id, "step": journey.step}
    await session.write(SQL["change"], changes)
    can_resume = is_same and journey.held_state is not None
    return await move(session, journey, JourneyEvent.RESUMED if can_resume else JourneyEvent.STARTED)


def _check(model: str, options: JourneyOptions) -> None:
    """Raises UsageError."""
    check_model(model)
    budget = Budget(options.budget_usd)
    check_amounts(budget)
    check_budget(budget, [model])
    check_facts_min(options.facts_min)
