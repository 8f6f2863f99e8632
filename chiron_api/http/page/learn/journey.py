"""The journey of a learner: begun, read, stopped and gone on with from the page."""

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.journeys import ResumeRequest, read_lesson_of_journey
from chiron_api.acts.journeys import resume as resume_journey
from chiron_api.acts.journeys import stop as stop_journey
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import read_form, read_input
from chiron_api.http.page.rendering import see_other


async def read_lesson(request: Request) -> Response:
    """The lesson that waited is read; its questions follow, or the page of the subject where they wait for something."""
    journey_id = path_id(request)
    await read_form(request)
    journey = await read_lesson_of_journey(services_of(request), journey_id)
    if journey.state == "exercising" and journey.quiz_id is not None:
        return see_other(f"/quizzes/{journey.quiz_id}")
    return see_other(learn_path(journey.subject_id))


async def resume(request: Request) -> Response:
    """Have a journey go on, with another budget where one is named."""
    journey_id, body = path_id(request), await read_input(request, ResumeRequest)
    return see_other(learn_path((await resume_journey(services_of(request), journey_id, body)).subject_id))


async def stop(request: Request) -> Response:
    """Stop a journey and cancel what it has under way."""
    journey_id = path_id(request)
    await read_form(request)
    return see_other(learn_path((await stop_journey(services_of(request), journey_id)).subject_id))


def learn_path(subject_id: str) -> str:
    """The page on which a journey through a subject is shown."""
    return f"/subjects/{subject_id}/learn"
