"""Quizzes: start one, answer its questions one at a time, settle what is doubtful."""

import contextlib
from http import HTTPStatus
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import quizzes
from chiron_api.acts.inputs import Input
from chiron_api.acts.quizzes import AnswerRequest, QuestionRequest, QuizRequest, SettlementRequest
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.forms import Form, read_input
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_workers.batches.summaries import BatchSummary, summary
from chiron_workers.errors import Conflict, UsageError

SUBJECTS_MAX = 1_000


class Options(Input):
    """The query string of the page that starts a quiz."""

    subject: str = Field(default="", max_length=200)


async def show_start(request: Request) -> Response:
    """The form that starts a quiz."""
    return await _start_page(request, read_query(request, Options).subject)


async def start_quiz(request: Request) -> Response:
    """Start a quiz, or go on with the open one; its page follows."""
    body = await read_input(request, QuizRequest)
    try:
        quiz = (await quizzes.start_quiz(services_of(request), body)).answer
    except Conflict:
        return await _start_page(request, body.subject, has_no_questions=True)
    return see_other(f"/quizzes/{quiz.quiz_id}")


async def write_questions(request: Request) -> Response:
    """Have questions on a subject written; the page of the batch follows, or what to do where it wrote none before."""
    body, services = await read_input(request, QuestionRequest), services_of(request)
    async with services.store() as store:
        subject_id = (await store.subjects.require(request.path_params["id"]))["subject_id"]
        has_questions = bool(await store.questions.pick(subject_id, None, limit=1))
    try:
        batch = await quizzes.write_questions(services, subject_id, body)
    except UsageError as error:
        return await _start_page(request, subject_id, problem=str(error))
    if not (batch.is_new or has_questions):
        former = await summary(services.pool, batch.batch_id)
        if former.state.is_final:
            return await _start_page(request, subject_id, former=former)
    return see_other(f"/batches/{batch.batch_id}")


async def show_quiz(request: Request) -> Response:
    """The question that comes next, and the answers before it."""
    quiz_id = path_id(request)
    async with services_of(request).store() as store:
        quiz = await store.quizzes.get(quiz_id)
        subject = await store.subjects.require(quiz.subject_id)
    last = max(quiz.answers, key=lambda answer: answer.at, default=None)
    return page(
        request,
        "quiz/page.html",
        section="/subjects",
        quiz=quiz,
        subject=subject,
        last=last,
        form=Form(AnswerRequest),
    )


async def answer_question(request: Request) -> Response:
    """Take an answer; the quiz follows, whether or not the question was answered before."""
    quiz_id = await _own_quiz(request)
    body = await read_input(request, AnswerRequest)
    with contextlib.suppress(Conflict):
        await quizzes.answer_question(services_of(request), quiz_id, body)
    return see_other(f"/quizzes/{quiz_id}")


async def settle_answer(request: Request) -> Response:
    """Take what the learner says a doubtful answer is worth; the quiz follows."""
    quiz_id = await _own_quiz(request)
    body = await read_input(request, SettlementRequest)
    with contextlib.suppress(Conflict):
        await quizzes.settle_answer(services_of(request), quiz_id, body)
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
        form=Form(QuizRequest),
        has_no_questions=has_no_questions,
        former=former,
        problem=problem,
    )


routes = [
    view("/quizzes", show_start),
    view("/quizzes", start_quiz, methods=["POST"]),
    view("/quizzes/{id}", show_quiz),
    view("/quizzes/{id}/answers", answer_question, methods=["POST"]),
    view("/quizzes/{id}/settlements", settle_answer, methods=["POST"]),
    view("/subjects/{id}/questions", write_questions, methods=["POST"]),
]
