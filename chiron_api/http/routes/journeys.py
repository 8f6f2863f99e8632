from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import INTEGER, Flag, Input, Name, Usd
from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import LOCATION, answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.journeys import finish_lesson, go_on, own_journey, resume_journey, stop_journey
from chiron_api.views.journeys import view_of
from chiron_workers.knowledge.coverage.subjects import DEPTH_CHARS_MAX, Subjects
from chiron_workers.learning import journeys, starts
from chiron_workers.learning.curriculum_orders import DEPTH, GOAL_CHARS_MAX, Goal
from chiron_workers.learning.needs import FACTS_MAX, FACTS_MIN
from chiron_workers.runs.session import Session

router = api_router("Learning")


class JourneyRequest(Input):
    """What somebody wants to understand and how deeply, by which model and for how much as a whole.

    `facts_min` accepted facts are what a node needs; `again` maps the goal anew and tries nodes again that gained nothing.
    """

    goal: Annotated[str, Field(min_length=1, max_length=GOAL_CHARS_MAX)]
    depth: Annotated[str, Field(min_length=1, max_length=DEPTH_CHARS_MAX)] = DEPTH
    model: Name | None = None
    budget_usd: Usd | None = None
    facts_min: Annotated[int, Field(ge=1, le=FACTS_MAX), INTEGER] = FACTS_MIN
    again: Flag = False


class ResumeRequest(Input):
    """What a journey may cost as a whole from now on; null leaves that as it is."""

    budget_usd: Usd | None = None


RESUME_DEFAULTS = ResumeRequest()


@router.post(
    "/v1/subjects/{id}/journey",
    status_code=HTTPStatus.ACCEPTED,
    summary="Begin a journey",
    response_model=Journey,
    responses=answers(HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED)
    | {200: LOCATION | {"model": Journey, "description": "The same journey is under way."}},
)
async def start_journey(id: str, body: JourneyRequest, services: ServicesOf) -> Response:
    """Begin to learn a subject, by any name, or have the journey go on that stands still: 202.

    Workers take it from step to step. 200 where it is under way to the same goal, 409 to another one.
    """
    options = starts.JourneyOptions(body.model, body.budget_usd, body.facts_min, is_fresh=body.again)
    goal = Goal(id, body.goal, body.depth)
    begun = await starts.begin(services.pool, goal, options, principal=services.principal)
    journey = await go_on(services.pool, services.settings.redis_url, begun.journey)
    headers = {"Location": f"/v1/subjects/{journey.subject_id}/journey"}
    status = HTTPStatus.ACCEPTED if begun.is_new else HTTPStatus.OK
    return json_response(await view_of(services.pool, journey), status, headers=headers)


@router.get(
    "/v1/subjects/{id}/journey",
    summary="Show your journey through a subject",
    response_model=Journey,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_journey(id: str, services: ServicesOf) -> Response:
    """Where whoever asks stands on the way through a subject, what it cost so far and what comes next."""
    subject_id = (await Subjects(Session(services.pool)).require(id))["subject_id"]
    journey = await journeys.require_journey(services.pool, services.principal.owner, subject_id)
    return json_response(await view_of(services.pool, journey))


@router.get("/v1/journeys", summary="List your journeys", response_model=JourneyList)
async def list_journeys(services: ServicesOf) -> Response:
    """The journeys of whoever asks, the one that moved last first; 100 at most."""
    rows = await journeys.journeys_of(services.pool, services.principal.owner)
    return json_response({"items": [await view_of(services.pool, journey) for journey in rows]})


@router.post(
    "/v1/journeys/{id}/read",
    summary="Say that a lesson is read",
    response_model=Journey,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def read_lesson_of_journey(id: UUID, services: ServicesOf) -> Response:
    """The lesson that waited is read; questions about it come next, in the quiz `quiz_id`. 409 where none waits."""
    journey = await own_journey(services.pool, id, services.principal.owner)
    journey = await finish_lesson(services.pool, services.settings.redis_url, journey)
    return json_response(await view_of(services.pool, journey))


@router.post(
    "/v1/journeys/{id}/resume",
    summary="Have a journey go on",
    response_model=Journey,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def resume(id: UUID, services: ServicesOf, body: ResumeRequest = RESUME_DEFAULTS) -> Response:
    """Have a journey go on that was stopped, paused or failed, and with it what it has paused; 409 where it is under way."""
    journey = await own_journey(services.pool, id, services.principal.owner)
    redis_url, principal = services.settings.redis_url, services.principal
    journey = await resume_journey(
        services.pool, redis_url, journey, budget_usd=body.budget_usd, principal=principal
    )
    return json_response(await view_of(services.pool, journey))


@router.post(
    "/v1/journeys/{id}/stop",
    summary="Stop a journey",
    response_model=Journey,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def stop(id: UUID, services: ServicesOf) -> Response:
    """Stop a journey and cancel what it has under way; what was found and learnt stays. 409 where it stands still."""
    journey = await own_journey(services.pool, id, services.principal.owner)
    journey = await stop_journey(services.pool, services.settings.redis_url, journey)
    return json_response(await view_of(services.pool, journey))
