"""A lesson: read, downloaded, and ordered for a node."""

import asyncio
from http import HTTPStatus

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.lessons import LessonOrder, LessonQuery
from chiron_api.acts.lessons import show_lesson as read_document
from chiron_api.acts.lessons import write_lesson as order_lesson
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import read_input
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.http.responses import document_response
from chiron_api.reports.lessons.document import LessonDocument
from chiron_api.reports.lessons.formats import LessonFormat
from chiron_api.reports.lessons.html import body
from chiron_workers.knowledge.lessons.reading import read_lesson
from chiron_workers.learning.journeys import find_journey
from chiron_workers.runs.session import Session
from chiron_workers.states import JourneyState


async def show_lesson(request: Request) -> Response:
    """One lesson, with what became of its facts since."""
    services = services_of(request)
    lesson = await read_lesson(services.pool, path_id(request))
    document = LessonDocument(lesson)
    journey = await find_journey(Session(services.pool), services.principal.owner, lesson.line.subject_id)
    waits = journey is not None and journey.state is JourneyState.DELIVERING_LESSON
    return page(
        request,
        "lesson/page.html",
        section="/subjects",
        document=document,
        lesson=lesson,
        journey=journey if journey and waits and journey.node_id == lesson.line.node_id else None,
        formats=list(LessonFormat),
        body=await asyncio.to_thread(_body, document),
    )


def _body(document: LessonDocument) -> Markup:
    return Markup("".join(body(document)))  # noqa: S704  # the HTML format escapes what it is handed


async def download_lesson(request: Request) -> Response:
    """The lesson as a file."""
    name = request.path_params["format"]
    if name not in list(LessonFormat):
        raise Problem(
            HTTPStatus.NOT_FOUND, f"A lesson is no {name[:40]!r}. It can be had as {', '.join(LessonFormat)}."
        )
    options = LessonQuery(format=LessonFormat(name))
    document = await read_document(services_of(request), path_id(request), options)
    return document_response(document, file_name=f"lesson.{name}")


async def write_lesson(request: Request) -> Response:
    """Have a lesson written on a node; the page of its batch follows."""
    subject_id = str(request.path_params["id"])
    receipt = await order_lesson(services_of(request), subject_id, await read_input(request, LessonOrder))
    return see_other(f"/batches/{receipt.batch_id}")


routes = [
    view("/lessons/{id}", show_lesson),
    view("/lessons/{id}/lesson.{format}", download_lesson),
    view("/subjects/{id}/lessons", write_lesson, methods=["POST"]),
]
