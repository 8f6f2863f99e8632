from http import HTTPStatus
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import INTEGER, Flag, Input, Name, Tokens, Usd
from chiron_api.answers.quizzes import QuestionOrder
from chiron_api.answers.quizzes import Quiz as QuizAnswer
from chiron_api.http.dependencies import ServicesOf, StoreOpener
from chiron_api.http.descriptions import LOCATION, answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.quizzes import quiz_document
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict
from chiron_workers.knowledge.assessment.quizzes import COUNT_MAX, NoQuestions
from chiron_workers.knowledge.coverage.assessments import RESPONSE_CHARS_MAX
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_marking, order_questions
from chiron_workers.pubsub.signals import notify
from chiron_workers.states import Mark

router = api_router("Quizzes")
WRITE_FIRST = "POST /v1/subjects/{subject}/questions has runs write them."


class QuizRequest(Input):
    """What the learner is asked about: a subject, or a node of its map; `count` questions at most."""

    subject: Name
    node_id: UUID | None = None
    count: Annotated[int, Field(ge=1, le=COUNT_MAX), INTEGER] = 3


class AnswerRequest(Input):
    """The learner's answer to a question; it may be empty."""

    question_id: UUID
    response: Annotated[str, Field(max_length=RESPONSE_CHARS_MAX)]


class SettlementRequest(Input):
    """What the learner says a doubtful answer is worth."""

    question_id: UUID
    mark: Literal["right", "wrong"]


class QuestionRequest(Input):
    """What questions are written about, by whom, and for how much; `again` where they were written before."""

    node_id: UUID | None = None
    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = False


DEFAULTS = QuestionRequest()


@router.post(
    "/v1/subjects/{id}/questions",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have questions written",
    response_model=QuestionOrder,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def write_questions(id: str, services: ServicesOf, body: QuestionRequest = DEFAULTS) -> Response:
    """Have runs write questions from the facts of a node, or of each node that has facts: 202 with the batch."""
    options = OrderOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    batch = await order_questions(services.pool, id, body.node_id, options, principal=services.principal)
    await notify(services.settings.redis_url, batch.batch_id)
    headers = {"Location": f"/v1/batches/{batch.batch_id}"}
    return json_response(batch, HTTPStatus.ACCEPTED, headers=headers)


@router.post(
    "/v1/quizzes",
    status_code=HTTPStatus.CREATED,
    summary="Start or resume a quiz",
    response_model=QuizAnswer,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.CREATED)
    | {200: LOCATION | {"model": QuizAnswer, "description": "The open one, which goes on."}},
)
async def start_quiz(body: QuizRequest, open_store: StoreOpener) -> Response:
    """The open quiz of whoever asks, or a new one: 201. 409 where no questions are stored yet."""
    async with open_store() as store:
        subject_id = (await store.subjects.require(body.subject))["subject_id"]
        try:
            quiz, is_new = await store.quizzes.start(subject_id, body.node_id, count=body.count)
        except NoQuestions as error:
            raise Conflict(f"{error} {WRITE_FIRST.format(subject=subject_id)}") from None
    headers = {"Location": f"/v1/quizzes/{quiz.id}"}
    status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return json_response(quiz_document(quiz), status, headers=headers)


@router.get(
    "/v1/quizzes/{id}",
    summary="Show a quiz",
    response_model=QuizAnswer,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_quiz(id: UUID, open_store: StoreOpener) -> Response:
    """A quiz of whoever asks: the answers so far with their keys and marks, and the question that comes next."""
    async with open_store() as store:
        return json_response(quiz_document(await store.quizzes.get(id)))


@router.post(
    "/v1/quizzes/{id}/answers",
    summary="Answer a question",
    response_model=QuizAnswer,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def answer_question(
    id: UUID, body: AnswerRequest, services: ServicesOf, open_store: StoreOpener
) -> Response:
    """The quiz with the answer, marked as far as rules can. The first answer counts, however often it is sent.

    At the end a run marks what is open; where none can be had, the `reason` of the answer says why, and its learner settles it.
    """
    async with open_store() as store:
        quiz = await store.quizzes.answer(id, body.question_id, body.response)
    order = await order_marking(services.pool, quiz, principal=services.principal)
    if order.batch:
        await notify(services.settings.redis_url, order.batch.batch_id)
    return json_response(quiz_document(order.quiz))


@router.post(
    "/v1/quizzes/{id}/settlements",
    summary="Settle a doubtful answer",
    response_model=QuizAnswer,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def settle_answer(id: UUID, body: SettlementRequest, open_store: StoreOpener) -> Response:
    """The quiz with the answer as its learner settles it; 409 where it is not doubtful."""
    async with open_store() as store:
        quiz = await store.quizzes.settle(id, body.question_id, Mark(body.mark))
    return json_response(quiz_document(quiz))
