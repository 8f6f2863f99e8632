"""Quizzes: have questions written, be asked them, and settle what is doubtful. The learner is the caller."""

from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Created, Noun, Target, ToolFace
from chiron_api.acts.inputs import INTEGER, Flag, Input, Name, Tokens, Usd
from chiron_api.answers.quizzes import QuestionOrder, Quiz, QuizAnswer, QuizQuestion
from chiron_api.services import Services
from chiron_workers.billing.budgets import Budget
from chiron_workers.knowledge.assessment import quizzes as engine
from chiron_workers.knowledge.assessment.questions import StoredQuestion
from chiron_workers.knowledge.assessment.quizzes import COUNT_MAX, MarkedAnswer, NoQuestions
from chiron_workers.knowledge.coverage.assessments import RESPONSE_CHARS_MAX
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.states import Mark

QUIZZES = Noun("Quizzes", Target("quiz", (Quiz,)))
CHANGE_PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
WRITE_FIRST = "POST /v1/subjects/{subject}/questions, or the tool order_questions, has runs write them."


class QuizRequest(Input):
    """What the learner is asked about: a subject, or a node of its map; `count` questions at most."""

    subject: Annotated[Name, Field(description="The subject, by its id or its name.")]
    node_id: UUID | None = Field(None, description="Only questions about this node of its map.")
    count: Annotated[int, Field(ge=1, le=COUNT_MAX), INTEGER] = Field(
        3, description="How many questions a new quiz has at most."
    )


class AnswerRequest(Input):
    """The learner's answer to a question; it may be empty."""

    question_id: Annotated[
        UUID, Target("question", (QuizQuestion,)), Field(description="It must be the current one.")
    ]
    response: Annotated[
        str,
        Field(max_length=RESPONSE_CHARS_MAX, description="The learner's own words; it may be empty."),
    ]


class SettlementRequest(Input):
    """What the learner says a doubtful answer is worth."""

    question_id: Annotated[
        UUID, Target("question", (QuizAnswer,)), Field(description="Its answer is doubtful.")
    ]
    mark: Literal["right", "wrong"] = Field(description="What the learner says.")


class QuestionRequest(Input):
    """What the questions are about, the model that writes them, and its budget."""

    node_id: UUID | None = Field(None, description="Only about this node of the map.")
    model: Name | None = Field(
        None, description="The model that writes the questions. Default: CHIRON_MODEL."
    )
    budget_usd: Usd | None = Field(
        None,
        description="The most that writing them may cost. It pauses there, and a resume continues it.",
    )
    budget_tokens: Tokens | None = Field(None, description="How many tokens writing them may use.")
    again: Flag = Field(False, description="Write new questions first, although that was tried before.")


OF_EVERY_NODE = QuestionRequest()


def _with_answer(quiz: Quiz, body: AnswerRequest | SettlementRequest) -> dict[str, Any]:
    """The quiz with one of its answers; a client that talks about each in turn needs no others."""
    answer = next(item for item in quiz.answers if item.question_id == body.question_id)
    return quiz.model_dump(exclude={"answers"}) | {"answer": answer.model_dump()}


START = ToolFace(
    "start_quiz",
    target="quiz_id",
    names={"subject": "subject_id"},
    words="""
        Ask the person you talk with what they know of a subject: their open quiz goes on, or a new one begins.

        Put `question` to the person in its own words, wait for their answer, and hand that in with answer_question,
        word for word. Do not answer for them, and do not help before they have answered. What is due for review is asked first.
    """,
    next_step="`questions` is how many there are, `number` that of the current one.",
)
ANSWER = ToolFace(
    "answer_question",
    "quiz_id",
    "The quiz.",
    target="quiz_id",
    reading=_with_answer,
    words="""
        Hand in what the person answered to the question of their quiz that comes next. The first answer counts.

        Tell the person the mark, its reason and the key; then put the next question to them.
    """,
    next_step="""
        Returns: answer (mark: right, wrong or doubtful; reason; key; statement; fact_ids), and the quiz as start_quiz gives it,
        without the answers before. A doubtful answer counts for nothing until it is marked by a model or settled by the person.
    """,
)
SETTLEMENT = ToolFace(
    "settle_answer",
    "quiz_id",
    "The quiz.",
    target="quiz_id",
    reading=_with_answer,
    words="Take what the person says a doubtful answer of theirs is worth, having seen the key. Ask them; do not decide it.",
    next_step="Returns: as answer_question.",
)


@QUIZZES.act(
    "subjects.questions",
    "POST /v1/subjects/{id}/questions",
    "Have questions written",
    client="order_questions",
    faces=("POST /subjects/{id}/questions",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batch_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND),
    costs_money=True,
    target=Target("subject"),
    repeatable=True,
    tool=ToolFace(
        "order_questions",
        "subject_id",
        "The subject, by its id or its name.",
        target="subject_id",
        next_step="get_run tells when it is done, and start_quiz then asks them.",
    ),
)
async def write_questions(
    services: Services, id: str, body: QuestionRequest = OF_EVERY_NODE
) -> QuestionOrder:
    """Have runs write questions from the facts of a node, or of each node that has facts; it returns at once with the batch.

    50 nodes at a time; the same order again continues with the next ones. Once the batch is done, a quiz asks the questions.
    """
    from chiron_workers.learning import (
        question_orders,
    )  # with the rules that mark, which showing help needs not

    options = OrderOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    batch = await question_orders.order_questions(
        services.pool, id, body.node_id, options, principal=services.principal
    )
    await services.notify(batch.batch_id)
    return QuestionOrder.model_validate(batch)


@QUIZZES.act(
    "quizzes.create",
    "POST /v1/quizzes",
    "Start or resume a quiz",
    client="start_quiz",
    faces=("POST /quizzes",),
    status=HTTPStatus.CREATED,
    location="/v1/quizzes/{quiz_id}",
    problems=CHANGE_PROBLEMS,
    repeatable=True,
    tool=START,
)
async def start_quiz(services: Services, body: QuizRequest) -> Created[Quiz]:
    """Your open quiz, or a new one: 201. 409 where no questions are stored yet."""
    async with services.store() as store:
        subject_id = (await store.subjects.require(body.subject))["subject_id"]
        try:
            quiz, is_new = await store.quizzes.start(subject_id, body.node_id, count=body.count)
        except NoQuestions as error:
            raise NoQuestions(f"{error} {WRITE_FIRST.format(subject=subject_id)}") from error
    return Created(answer_of(quiz), is_new)


@QUIZZES.act(
    "quizzes.read",
    "GET /v1/quizzes/{id}",
    "Show a quiz",
    client="quiz",
    faces=("GET /quizzes/{id}",),
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
    tool=ToolFace(
        "get_quiz",
        "quiz_id",
        "Its id, as start_quiz gave it.",
        next_step="An answer that is doubtful and has no marked_by is still being marked.",
    ),
)
async def show_quiz(services: Services, id: UUID) -> Quiz:
    """Your quiz: the answers so far with their keys and marks, and the question that comes next."""
    async with services.store() as store:
        return answer_of(await store.quizzes.get(id))


@QUIZZES.act(
    "quizzes.answers",
    "POST /v1/quizzes/{id}/answers",
    "Answer a question",
    client="answer_question",
    faces=("POST /quizzes/{id}/answers",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
    costs_money=True,
    repeatable=True,
    tool=ANSWER,
)
async def answer_question(services: Services, id: UUID, body: AnswerRequest) -> Quiz:
    """The quiz with the answer, marked if rules can mark it. The first answer counts, however often it is sent.

    409 for a question that is not next. At the end a run marks what is open; where none can be had, the `reason` of the answer
    says why, and its learner settles it.
    """
    from chiron_workers.learning import question_orders

    async with services.store() as store:
        quiz = await store.quizzes.answer(id, body.question_id, body.response)
    order = await question_orders.order_marking(services.pool, quiz, principal=services.principal)
    if order.batch:
        await services.notify(order.batch.batch_id)
    return answer_of(order.quiz)


@QUIZZES.act(
    "quizzes.settlements",
    "POST /v1/quizzes/{id}/settlements",
    "Settle a doubtful answer",
    client="settle_answer",
    faces=("POST /quizzes/{id}/settlements",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
    tool=SETTLEMENT,
)
async def settle_answer(services: Services, id: UUID, body: SettlementRequest) -> Quiz:
    """The quiz with the answer as its learner settles it; 409 where it is not doubtful."""
    async with services.store() as store:
        quiz = await store.quizzes.settle(id, body.question_id, Mark(body.mark))
    return answer_of(quiz)


def answer_of(quiz: engine.Quiz) -> Quiz:
    """A quiz as it is shown; a question that is not answered has no key."""
    return Quiz.model_validate(
        {
            "quiz_id": quiz.id,
            "subject_id": quiz.subject_id,
            "node_id": quiz.node_id,
            "state": "finished" if quiz.is_finished else "open",
            "questions": quiz.questions,
            "number": quiz.number,
            "right": sum(answer.mark is Mark.RIGHT for answer in quiz.answers),
            "wrong": sum(answer.mark is Mark.WRONG for answer in quiz.answers),
            "doubtful": len(quiz.doubtful),
            "question": quiz.current and _members(quiz.current, QuizQuestion),
            "answers": [
                {**_members(answer.question, QuizAnswer), **_members(answer, QuizAnswer)}
                for answer in quiz.answers
            ],
            "created_at": quiz.created_at,
        }
    )


def _members(part: StoredQuestion | MarkedAnswer, model: type[QuizQuestion]) -> dict[str, object]:
    """The fields of a model that a question, or an answer to it, has."""
    members = {name: getattr(part, name) for name in model.model_fields if hasattr(part, name)}
    if isinstance(part, StoredQuestion):
        members |= {"question_id": part.id, "key_verdict_by": part.verdict_by}
    return members
