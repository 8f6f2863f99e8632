"""The journey of a learner: begun, read, stopped and gone on with from the page."""

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import amount, read_form
from chiron_api.http.page.rendering import see_other
from chiron_api.journeys import finish_lesson, own_journey, resume_journey, stop_journey
from chiron_workers.learning.journeys import Journey
from chiron_workers.states import JourneyState


async def read_lesson(request: Request) -> Response:
    """The lesson that waited is read; its questions follow, or the page of the subject where they wait for something."""
    journey = await _own(request)
    await read_form(request)
    services = services_of(request)
    journey = await finish_lesson(services.pool, services.settings.redis_url, journey)
    if journey.state is JourneyState.EXERCISING and journey.quiz_id is not None:
        return see_other(f"/quizzes/{journey.quiz_id}")
    return see_other(learn_path(journey.subject_id))


async def resume(request: Request) -> Response:
    """Have a journey go on, with another budget where one is named."""
    journey = await _own(request)
    fields, services = await read_form(request), services_of(request)
    budget_usd = amount(fields, "budget_usd")
    redis_url, principal = services.settings.redis_url, services.principal
    await resume_journey(services.pool, redis_url, journey, budget_usd=budget_usd, principal=principal)
    return see_other(learn_path(journey.subject_id))


async def stop(request: Request) -> Response:
    """Stop a journey and cancel what it has under way."""
    services, journey = services_of(request), await _own(request)
    await read_form(request)
    await stop_journey(services.pool, services.settings.redis_url, journey)
    return see_other(learn_path(journey.subject_id))


def learn_path(subject_id: str) -> str:
    """The page on which a journey through a subject is shown."""
    return f"/subjects/{subject_id}/learn"


async def _own(request: Request) -> Journey:
    services = services_of(request)
    return await own_journey(services.pool, path_id(request), services.principal.owner)
