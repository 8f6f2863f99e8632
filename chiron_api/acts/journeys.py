"""Journeys: begin to learn a subject, see where you stand, say that a lesson is read, stop and go on."""

import contextlib
from functools import partial
from http import HTTPStatus
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Created, Noun, Target
from chiron_api.acts.inputs import Flag, Input, Usd
from chiron_api.acts.learning import FactsMin, GoalOptions
from chiron_api.acts.steering import steer
from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.services import Services
from chiron_api.views.journeys import view_of
from chiron_workers.batches import steering
from chiron_workers.billing.budgets import USD_MIN, Budget
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.learning import journeys, starts
from chiron_workers.learning.curriculum_orders import Goal
from chiron_workers.learning.journey_orders import load_paused, own_open_batches, spent_usd
from chiron_workers.learning.needs import FACTS_MIN
from chiron_workers.runs.session import Session
from chiron_workers.states import JourneyState

JOURNEYS = Noun("Learning", Target("journey", (Journey,)))
SUBJECT = Target("subject")
CHANGE_PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
LOOKS_MAX = 20  # of one act; workers go on with the rest


class JourneyRequest(GoalOptions):
    """The learning goal, its depth, the model, and the budget of the whole journey."""

    budget_usd: Usd | None = Field(
        None,
        description="The most that the whole journey may cost. It pauses there, and a resume continues it.",
    )
    facts_min: FactsMin = FACTS_MIN
    again: Flag = Field(
        False, description="Draw a new map of the goal, and research nodes again that gained no facts."
    )


class ResumeRequest(Input):
    """The new budget of the whole journey; null keeps the present one."""

    budget_usd: Usd | None = Field(
        None, description="The new budget of the whole journey. Default: as before."
    )


SAME_BUDGET = ResumeRequest()


@JOURNEYS.act(
    "journeys.start",
    "POST /v1/subjects/{id}/journey",
    "Begin a journey",
    client="start_journey",
    faces=("POST /subjects/{id}/journey",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/subjects/{subject_id}/journey",
    problems=(HTTPStatus.CONFLICT,),
    costs_money=True,
    target=SUBJECT,
    repeatable=True,
)
async def start_journey(services: Services, id: str, body: JourneyRequest) -> Created[Journey]:
    """Begin to learn a subject, by any name, or have the journey go on that stands still; workers take it from step to step.

    Nothing is changed where it is under way to the same goal; it is refused where it is under way to another one.
    """
    options = starts.JourneyOptions(body.model, body.budget_usd, body.facts_min, is_fresh=body.again)
    goal = Goal(id, body.goal, body.depth)
    begun = await starts.begin(services.pool, goal, options, principal=services.principal)
    return Created(await take_steps(services, begun.journey), begun.is_new)


@JOURNEYS.act(
    "journeys.look",
    "GET /v1/subjects/{id}/journey",
    "Show your journey through a subject",
    client="journey",
    problems=(HTTPStatus.NOT_FOUND,),
    target=SUBJECT,
)
async def show_journey(services: Services, id: str) -> Journey:
    """Your journey through a subject: where it stands, what it cost so far and what comes next."""
    subject_id = (await Subjects(Session(services.pool)).require(id))["subject_id"]
    journey = await journeys.require_journey(services.pool, services.principal.owner, subject_id)
    return await _answer(services, journey)


@JOURNEYS.act("journeys.list", "GET /v1/journeys", "List your journeys", client="journeys")
async def list_journeys(services: Services) -> JourneyList:
    """Your journeys, the one that moved last first; 100 at most. Those of others are 404."""
    rows = await journeys.journeys_of(services.pool, services.principal.owner)
    return JourneyList(items=[await _answer(services, journey) for journey in rows])


@JOURNEYS.act(
    "journeys.read",
    "POST /v1/journeys/{id}/read",
    "Say that a lesson is read",
    client="finish_lesson",
    faces=("POST /journeys/{id}/read",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
    costs_money=True,
)
async def read_lesson_of_journey(services: Services, id: UUID) -> Journey:
    """The lesson that waited is read; questions about it come next, in the quiz `quiz_id`. 409 where none waits."""
    journey = await _own(services, id)
    await starts.lesson_read(services.pool, journey)
    return await take_steps(services, await _reload(services, journey))


@JOURNEYS.act(
    "journeys.resume",
    "POST /v1/journeys/{id}/resume",
    "Have a journey go on",
    client="resume_journey",
    faces=("POST /journeys/{id}/resume",),
    problems=(HTTPStatus.PAYMENT_REQUIRED, *CHANGE_PROBLEMS),
    is_owned=True,
    costs_money=True,
)
async def resume(services: Services, id: UUID, body: ResumeRequest = SAME_BUDGET) -> Journey:
    """Have a journey go on that was stopped, paused or failed, and with it what it has paused; 409 where it is under way."""
    journey, pool, principal = await _own(services, id), services.pool, services.principal
    total_usd = body.budget_usd or journey.budget_usd
    room_usd = None if total_usd is None else total_usd - await spent_usd(Session(pool), journey)
    if room_usd is not None and room_usd < USD_MIN:
        raise UsageError(
            f"The journey has spent its budget of {total_usd:.2f} USD; name a higher one (budget_usd)."
        )
    paused = await load_paused(pool, journey) if journey.state is JourneyState.IDLE else {}
    share_usd = None if room_usd is None or not paused else (room_usd / len(paused)).quantize(USD_MIN)
    for target, spent in paused.items():
        budget = Budget(None if share_usd is None else spent + share_usd)
        await steer(services, target, partial(steering.resume, budget=budget, principal=principal))
    try:
        await starts.resume(pool, journey.subject_id, budget_usd=body.budget_usd, principal=principal)
    except Conflict:
        if not paused:
            raise
        # A worker has picked up the resumed runs already, so the journey is under way.
        async with Session(pool) as session:
            await starts.change_budget(session, journey, body.budget_usd, principal=principal)
    return await take_steps(services, await _reload(services, journey))


@JOURNEYS.act(
    "journeys.stop",
    "POST /v1/journeys/{id}/stop",
    "Stop a journey",
    client="stop_journey",
    faces=("POST /journeys/{id}/stop",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
)
async def stop(services: Services, id: UUID) -> Journey:
    """Stop a journey and cancel what it has under way; what was found and learnt stays. 409 where it stands still."""
    journey = await _own(services, id)
    if journey.state is JourneyState.IDLE:
        raise Conflict(f"The journey through {journey.subject_id} stands still already.")
    # Stop it first: a worker that moved it meanwhile would order batches that are not in the list below.
    while not await starts.stop(services.pool, journey):
        journey = await _reload(services, journey)
        if journey.state is JourneyState.IDLE:
            break
    for batch_id in await own_open_batches(services.pool, journey):
        with contextlib.suppress(Conflict):  # it has ended meanwhile
            await steer(services, batch_id, steering.cancel)
    return await _answer(services, await _reload(services, journey))


async def take_steps(services: Services, journey: journeys.Journey) -> Journey:
    """Take the steps that are possible now, as a worker would, and notify the workers of new batches."""
    from chiron_workers.learning.orchestrator import advance

    for _ in range(LOOKS_MAX):
        outcome = await advance(services.pool, journey)
        await services.notify(*outcome.batch_ids)
        journey = await _reload(services, journey)
        if not outcome.has_changed:
            break
    return await _answer(services, journey)


async def _own(services: Services, journey_id: UUID) -> journeys.Journey:
    journey = await journeys.load_journey(services.pool, journey_id)
    if journey is None or journey.learner != services.principal.owner:
        raise NotFound(f"There is no journey with the id {journey_id}.")
    return journey


async def _reload(services: Services, journey: journeys.Journey) -> journeys.Journey:
    return await journeys.require_journey(services.pool, journey.learner, journey.subject_id)


async def _answer(services: Services, journey: journeys.Journey) -> Journey:
    return await view_of(services.pool, journey)
