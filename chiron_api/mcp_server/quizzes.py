"""Tools of MCP clients for quizzes: be asked, answer, settle what is doubtful. The learner is the owner of the key."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from chiron_api.acts import quizzes as acts
from chiron_api.acts.quizzes import AnswerRequest, QuizRequest, SettlementRequest
from chiron_api.answers.quizzes import Quiz
from chiron_api.mcp_server.act_tools import current_services
from chiron_api.mcp_server.research import Name, tool_errors
from chiron_workers.db.validation import parse_id
from chiron_workers.knowledge.assessment.quizzes import COUNT_MAX
from chiron_workers.knowledge.coverage.assessments import RESPONSE_CHARS_MAX
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


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
        node = parse_id(node_id, field="node_id") if node_id else None
        body = QuizRequest(subject=subject_id, node_id=node, count=count)
        return (await acts.start_quiz(current_services(), body)).answer.model_dump()


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
        body = AnswerRequest(question_id=parse_id(question_id, field="question_id"), response=response)
        quiz = await acts.answer_question(current_services(), parse_id(quiz_id, field="quiz_id"), body)
    return _with_answer(quiz, body.question_id)


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
        body = SettlementRequest(question_id=parse_id(question_id, field="question_id"), mark=mark)
        quiz = await acts.settle_answer(current_services(), parse_id(quiz_id, field="quiz_id"), body)
    return _with_answer(quiz, body.question_id)


def _with_answer(quiz: Quiz, question_id: UUID) -> dict[str, Any]:
    """The quiz with one of its answers; a client that talks about each in turn needs no others."""
    answer = next(item for item in quiz.answers if item.question_id == question_id)
    return quiz.model_dump(exclude={"answers"}) | {"answer": answer.model_dump()}
