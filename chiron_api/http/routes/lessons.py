from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from chiron_api.acts.inputs import Flag, Input, Name, Tokens, Usd
from chiron_api.answers.lessons import Lesson, LessonList
from chiron_api.answers.runs import WritingReceipt
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import Responses, answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.reports.lessons.formats import MEDIA_TYPES, LessonFormat, render
from chiron_api.reports.lessons.html import HEADERS
from chiron_workers.billing.budgets import Budget
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.lessons.reading import lessons_of, read_lesson
from chiron_workers.learning.lesson_orders import find_node, order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.session import Session

router = api_router("Lessons")
DOCUMENTS: Responses = answers(HTTPStatus.NOT_FOUND) | {
    200: {
        "description": "The lesson in the format that was named.",
        "content": {
            media_type.partition(";")[0]: {}
            for name, media_type in MEDIA_TYPES.items()
            if name is not LessonFormat.JSON
        },
    }
}


class LessonQuery(Input):
    """The format of a lesson."""

    format: LessonFormat = LessonFormat.JSON


class LessonsQuery(Input):
    """Of which node, by its id or title; with `drafts` also lessons that are not handed in."""

    node: Name | None = None
    drafts: bool = False


class LessonOrder(Input):
    """Which node is taught, by its id or title, who writes and for how much; `again` where the facts are the same."""

    node: Name
    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = False


@router.get("/v1/lessons/{id}", summary="Show a lesson", response_model=Lesson, responses=DOCUMENTS)
async def show_lesson(id: UUID, options: Annotated[LessonQuery, Query()], services: ServicesOf) -> Response:
    """A lesson with its facts, and which of its sentences are stale and why."""
    lesson = await read_lesson(services.pool, id)
    return StreamingResponse(
        render(lesson, options.format), media_type=MEDIA_TYPES[options.format], headers=dict(HEADERS)
    )


@router.get(
    "/v1/subjects/{id}/lessons",
    summary="List the lessons of a subject",
    response_model=LessonList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def list_lessons(id: str, query: Annotated[LessonsQuery, Query()], services: ServicesOf) -> Response:
    """The lessons of a subject or of one of its nodes, newest first; 500 at most."""
    subject = await Subjects(Session(services.pool)).require(id)
    node = await find_node(services.pool, id, query.node) if query.node else None
    items = await lessons_of(
        services.pool,
        subject["subject_id"],
        node_id=UUID(node["node_id"]) if node else None,
        with_drafts=query.drafts,
    )
    return json_response({"items": items})


@router.post(
    "/v1/subjects/{id}/lessons",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have a lesson written",
    response_model=WritingReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def write_lesson(id: str, body: LessonOrder, services: ServicesOf) -> Response:
    """Have a run write a lesson from the facts of a node; 202, also where that was done."""
    options = OrderOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    node = await find_node(services.pool, id, body.node)
    receipt = await order_lesson(services.pool, id, node, options, principal=services.principal)
    await notify(services.settings.redis_url, receipt.batch_id)
    document = {"batch_id": receipt.batch_id, "run_ids": receipt.run_ids, "is_new": receipt.is_new}
    headers = {"Location": f"/v1/batches/{receipt.batch_id}"}
    return json_response(document, HTTPStatus.ACCEPTED, headers=headers)
