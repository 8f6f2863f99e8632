"""Tools of MCP clients for quizzes: be asked, answer, settle what is doubtful. The learner is the owner of the key."""

import json
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

from pydantic import Field

from chiron_api.mcp_server.research import Name, Usd, tool_errors
from chiron_api.quizzes import quiz_document
from chiron_api.text import as_json
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.validation import parse_id
from chiron_workers.errors import Conflict
from chiron_workers.knowledge.assessment.quizzes import COUNT_MAX, NoQuestions, Quiz
from chiron_workers.knowledge.coverage.assessments import RESPONSE_CHARS_MAX
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_marking
from chiron_workers.learning.question_orders import order_questions as submit_questions
from chiron_workers.settings import settings
from chiron_workers.states import Mark
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

WRITE_FIRST = "order_questions has runs write them."


class StartedQuestions(TypedDict):
    """The batch whose runs write questions; `nodes_left` have facts too, and the next order goes on with them."""

    batch_id: str
    run_ids: list[str]
    is_new: bool
    nodes_left: int


@tool
async def start_quiz(
    store: Store,
    *,
    subject_id: Name,
    node_id: Name | None = None,
    count: Annotated[int, Field(ge=1, le=COUNT_MAX)] = 3,
) -> dict[str, Any]:
    """Ask the person you talk with what they know of a subject: their open quiz goes on, or a new one begins.

    Put `question` to the person in its own words, wait for their answer, and hand that in with answer_question, word for word.
    Do not answer for them, and do not help before they have answered. What is due for review is asked first.

    Args:
        subject_id: The subject, by its id or its name.
        node_id: Only questions about this node of its map.
        count: How many questions a new quiz has at most.

    Returns:
        quiz_id, state (open or finished), questions (how many), number (of the current one), right, wrong, doubtful, question
        (question_id, kind, text), and the answers so far with their marks.
    """
    with tool_errors():
        subject = (await store.subjects.require(subject_id))["subject_id"]
        node = parse_id(node_id, field="node_id") if node_id else None
        try:
            quiz, _ = await store.quizzes.start(subject, node, count=count)
        except NoQuestions as error:
            raise Conflict(f"{error} {WRITE_FIRST}") from None
    return _document(quiz)


@tool
async def get_quiz(store: Store, *, quiz_id: Name) -> dict[str, Any]:
    """Look at a quiz again: the answers so far with key, mark and reason, and the question that comes next.

    Args:
        quiz_id: Its id, as start_quiz gave it.

    Returns:
        As start_quiz; question is null at the end. An answer that is doubtful and has no marked_by is still being marked.
    """
    with tool_errors():
        return _document(await store.quizzes.get(parse_id(quiz_id, field="quiz_id")))


@tool
async def answer_question(
    store: Store,
    *,
    quiz_id: Name,
    question_id: Name,
    response: Annotated[str, Field(max_length=RESPONSE_CHARS_MAX)],
) -> dict[str, Any]:
    """Hand in what the person answered to the question of their quiz that comes next. The first answer counts.

    Tell the person the mark, its reason and the key; then put the next question to them.

    Args:
        quiz_id: The quiz.
        question_id: The question, which must be the current one.
        response: The person's answer in their own words; it may be empty.

    Returns:
        answer (mark: right, wrong or doubtful; reason; key; statement; fact_ids), and the quiz as start_quiz gives it, without
        the answers before. A doubtful answer counts for nothing until it is marked by a model or settled by the person.
    """
    with tool_errors():
        question = parse_id(question_id, field="question_id")
        quiz = await store.quizzes.answer(parse_id(quiz_id, field="quiz_id"), question, response)
    await store.session.commit()  # whoever marks it reads the row
    order = await order_marking(store.session.pool, quiz, principal=store.caller.principal)
    if order.batch:
        from chiron_workers.pubsub.signals import notify

        await notify(settings().redis_url, order.batch.batch_id)
    return _document_of_answer(order.quiz, question)


@tool
async def settle_answer(
    store: Store, *, quiz_id: Name, question_id: Name, mark: Literal["right", "wrong"]
) -> dict[str, Any]:
    """Take what the person says a doubtful answer of theirs is worth, having seen the key. Ask them; do not decide it.

    Args:
        quiz_id: The quiz.
        question_id: The question whose answer is doubtful.
        mark: What the person says.

    Returns:
        As answer_question.
    """
    with tool_errors():
        question = parse_id(question_id, field="question_id")
        quiz = await store.quizzes.settle(parse_id(quiz_id, field="quiz_id"), question, Mark(mark))
    return _document_of_answer(quiz, question)


@tool
async def order_questions(
    store: Store,
    *,
    subject_id: Name,
    node_id: Name | None = None,
    model: Name | None = None,
    budget_usd: Usd | None = None,
    again: bool = False,
) -> StartedQuestions:
    """Have questions written from the facts of a node, or of each node of a subject that has facts.

    It returns at once. get_run tells when it is done, and start_quiz then asks them.

    Args:
        subject_id: The subject, by its id or its name.
        node_id: Only about this node of its map.
        model: The model that writes. Left out, the configured one.
        budget_usd: What the questions may cost; it pauses there.
        again: Also where they were written before from the same facts.

    Returns:
        batch_id, run_ids, is_new, and nodes_left: how many nodes have facts and are not among them; the same call goes on with
        those once these have questions.
    """
    from chiron_workers.pubsub.signals import notify

    budget = Budget(None if budget_usd is None else Decimal(str(budget_usd)), None)
    with tool_errors():
        node = parse_id(node_id, field="node_id") if node_id else None
        options = OrderOptions(model, budget, is_fresh=again)
        principal = store.caller.principal
        batch = await submit_questions(store.session.pool, subject_id, node, options, principal=principal)
    await notify(settings().redis_url, batch.batch_id)
    return StartedQuestions(
        batch_id=str(batch.batch_id),
        run_ids=[str(run_id) for run_id in batch.run_ids],
        is_new=batch.is_new,
        nodes_left=batch.nodes_left,
    )


def _document(quiz: Quiz) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(as_json(quiz_document(quiz)))
    return document


def _document_of_answer(quiz: Quiz, question_id: UUID) -> dict[str, Any]:
    """The quiz with one of its answers; a client that talks about each in turn needs no others."""
    document = _document(quiz)
    answers = document.pop("answers")
    return document | {"answer": next(item for item in answers if item["question_id"] == str(question_id))}
