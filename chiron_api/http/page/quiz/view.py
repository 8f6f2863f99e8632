"""Quizzes: start one, answer its questions one at a time, settle what is doubtful."""

from http import HTTPStatus
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.forms import count, read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.batches.summaries import BatchSummary, summary
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.knowledge.assessment.quizzes import COUNT_MAX
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_marking, order_questions
from chiron_workers.pubsub.signals import notify
from chiron_workers.states import Mark

SUBJECTS_MAX = 1_000


class Options(Input):
    """The query string of the page that starts a quiz."""

    subject: str = Field(default="", max_length=200)


async def show_start(request: Request) -> Response:
    """The form that starts a quiz."""
    return await _start_page(request, read_query(request, Options).subject)


async def start_quiz(request: Request) -> Response:
    """Start a quiz, or go on with the open one; its page follows."""
    fields = await read_form(request)
    subject, node = fields.get("subject", "").strip(), fields.get("node_id", "").strip()
    node_id, questions = parse_id_or_none(node), count(fields, "count") or 3
    try:
        async with services_of(request).store() as store:
            subject_id = (await store.subjects.require(subject))["subject_id"]
            quiz, _ = await store.quizzes.start(subject_id, node_id, count=min(questions, COUNT_MAX))
    except Conflict:
        return await _start_page(request, subject, has_no_questions=True)
    return see_other(f"/quizzes/{quiz.id}")


async def write_questions(request: Request) -> Response:
    """Have questions on a subject written; the page of the batch follows, or what to do where it wrote none before."""
    fields = await read_form(request)
    services = services_of(request)
    async with services.store() as store:
        subject_id = (await store.subjects.require(request.path_params["id"]))["subject_id"]
        has_questions = bool(await store.questions.pick(subject_id, None, limit=1))
    options = OrderOptions(is_fresh=bool(fields.get("again")))
    try:
        batch = await order_questions(services.pool, subject_id, None, options, principal=services.principal)
    except UsageError as error:
        return await _start_page(request, subject_id, problem=str(error))
    if not (batch.is_new or has_questions):
        former = await summary(services.pool, batch.batch_id)
        if former.state.is_final:
            return await _start_page(request, subject_id, former=former)
    await notify(services.settings.redis_url, batch.batch_id)
    return see_other(f"/batches/{batch.batch_id}")


async def show_quiz(request: Request) -> Response:
    """The question that comes next, and the answers before it."""
    quiz_id = path_id(request)
    async with services_of(request).store() as store:
        quiz = await store.quizzes.get(quiz_id)
        subject = await store.subjects.require(quiz.subject_id)
    last = max(quiz.answers, key=lambda answer: answer.at, default=None)
    return page(request, "quiz/page.html", section="/subjects", quiz=quiz, subject=subject, last=last)


async def answer_question(request: Request) -> Response:
    """Take an answer; the quiz follows, whether or not the question was answered before."""
    quiz_id, services = await _own_quiz(request), services_of(request)
    fields = await read_form(request)
    try:
        async with services.store() as store:
            question_id = _question_id(fields)
            quiz = await store.quizzes.answer(quiz_id, question_id, fields.get("response", ""))
    except Conflict:
        return see_other(f"/quizzes/{quiz_id}")
    order = await order_marking(services.pool, quiz, principal=services.principal)
    if order.batch:
        await notify(services.settings.redis_url, order.batch.batch_id)
    return see_other(f"/quizzes/{quiz_id}")


async def settle_answer(request: Request) -> Response:
    """Take what the learner says a doubtful answer is worth; the quiz follows."""
    quiz_id = await _own_quiz(request)
    fields = await read_form(request)
    if fields.get("mark") not in (Mark.RIGHT, Mark.WRONG):
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "An answer is settled as right or as wrong.")
    try:
        async with services_of(request).store() as store:
            await store.quizzes.settle(quiz_id, _question_id(fields), Mark(fields["mark"]))
    except Conflict:
        return see_other(f"/quizzes/{quiz_id}")
    return see_other(f"/quizzes/{quiz_id}")


async def _own_quiz(request: Request) -> UUID:
    quiz_id = path_id(request)
    async with services_of(request).store() as store:
        await store.quizzes.get(quiz_id)
    return quiz_id


async def _start_page(
    request: Request,
    subject: str,
    *,
    has_no_questions: bool = False,
    former: BatchSummary | None = None,
    problem: str = "",
) -> Response:
    """The form that starts a quiz; `former` is the batch that was to write questions and wrote none."""
    async with services_of(request).store() as store:
        subjects = await store.subjects.all(limit=SUBJECTS_MAX)
    return page(
        request,
        "quiz/start.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if has_no_questions or former or problem else HTTPStatus.OK,
        section="/subjects",
        subjects=subjects,
        subject=subject,
        has_no_questions=has_no_questions,
        former=former,
        problem=problem,
    )


def _question_id(fields: dict[str, str]) -> UUID:
    question_id = parse_id_or_none(fields.get("question_id", ""))
    if question_id is None:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "The form names no question.")
    return question_id


routes = [
    view("/quizzes", show_start),
    view("/quizzes", start_quiz, methods=["POST"]),
    view("/quizzes/{id}", show_quiz),
    view("/quizzes/{id}/answers", answer_question, methods=["POST"]),
    view("/quizzes/{id}/settlements", settle_answer, methods=["POST"]),
    view("/subjects/{id}/questions", write_questions, methods=["POST"]),
]
