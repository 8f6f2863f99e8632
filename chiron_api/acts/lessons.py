"""Lessons on the nodes of coverage maps: list them, read them, have them written."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Document, Noun, Target, ToolFace
from chiron_api.acts.inputs import Flag, Input, Name
from chiron_api.acts.orders import Order, receipt_of
from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.runs import WritingReceipt
from chiron_api.reports.lessons.formats import MEDIA_TYPES, LessonFormat, render
from chiron_api.services import Services
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.lessons.reading import lessons_of, read_lesson
from chiron_workers.learning.lesson_orders import find_node, order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.runs.session import Session

LESSONS = Noun("Lessons", Target("lesson", (LessonLine,)))
SUBJECT = Target("subject")


class LessonQuery(Input):
    """The format of a lesson."""

    format: LessonFormat = LessonFormat.JSON


class LessonsQuery(Input):
    """Which lessons of a subject."""

    node: Annotated[Name | None, Field(description="Of this node alone, by its id or title.")] = None
    drafts: Annotated[bool, Field(description="Also lessons that are not handed in.")] = False


class LessonOrder(Order):
    """The node to teach, the model that writes, and its budget; `again` repeats it for the same facts."""

    node: Annotated[Name, Field(description="The node of the map, by its title or its id.")]
    again: Annotated[Flag, Field(description="Write it again; the present lesson is kept as a version.")] = (
        False
    )


@LESSONS.act(
    "lessons.read",
    "GET /v1/lessons/{id}",
    "Show a lesson",
    client="lesson",
    faces=(
        "GET /lessons/{id}",
        "GET /lessons/{id}/lesson.{format}",
        "mcp get_lesson",
        "resource chiron://lessons/{id}",
    ),
    problems=(HTTPStatus.NOT_FOUND,),
    media_types=tuple(
        media_type.partition(";")[0]
        for name, media_type in MEDIA_TYPES.items()
        if name is not LessonFormat.JSON
    ),
)
async def show_lesson(services: Services, id: UUID, options: LessonQuery) -> Document[Lesson]:
    """A lesson with its facts, and which of its sentences are stale and why."""
    from chiron_api.reports.lessons.html import HEADERS  # which commands that order one do without

    lesson = await read_lesson(services.pool, id)
    return Document(render(lesson, options.format), MEDIA_TYPES[options.format], HEADERS)


@LESSONS.act(
    "lessons.list",
    "GET /v1/subjects/{id}/lessons",
    "List the lessons of a subject",
    client="lessons",
    faces=("mcp list_lessons", "resource chiron://subjects/{id}/lessons"),
    problems=(HTTPStatus.NOT_FOUND,),
    target=SUBJECT,
)
async def list_lessons(services: Services, id: str, query: LessonsQuery) -> LessonList:
    """The lessons of a subject or of one of its nodes, newest first; 500 at most."""
    subject = await Subjects(Session(services.pool)).require(id)
    node = await find_node(services.pool, id, query.node) if query.node else None
    node_id = UUID(node["node_id"]) if node else None
    lines = await lessons_of(services.pool, subject["subject_id"], node_id=node_id, with_drafts=query.drafts)
    return LessonList.model_validate({"items": lines})


@LESSONS.act(
    "lessons.order",
    "POST /v1/subjects/{id}/lessons",
    "Have a lesson written",
    client="write_lesson",
    faces=("POST /subjects/{id}/lessons",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batch_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND),
    costs_money=True,
    target=SUBJECT,
    repeatable=True,
    tool=ToolFace(
        "order_lesson",
        "subject_id",
        "The subject, by its id or its name.",
        target="subject_id",
        next_step="get_run tells when it is done, and list_lessons then has the lesson.",
    ),
)
async def write_lesson(services: Services, id: str, body: LessonOrder) -> WritingReceipt:
    """Have a run write a lesson on a node of a subject's map, from stored facts alone.

    It answers at once; once the batch has ended, the lessons of the subject have it. `is_new` is false where the same facts were
    taught from before.
    """
    options = OrderOptions(body.model, body.budget, is_fresh=body.again)
    node = await find_node(services.pool, id, body.node)
    batch = await order_lesson(services.pool, id, node, options, principal=services.principal)
    return await receipt_of(services, batch)
