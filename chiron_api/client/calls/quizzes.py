"""Quizzes: having questions written, being asked them, and settling doubtful answers."""

from typing import Literal

from chiron_api.answers.quizzes import QuestionOrder, Quiz, QuizAnswer, QuizQuestion
from chiron_api.client.call import Call, fields, get
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id


def order_questions(
    subject: str,
    *,
    node_id: Id | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[QuestionOrder]:
    """Have questions written from the facts of a node, or of each node of a subject.

    Args:
        again: Also where they were written before from the same facts.
    """
    body = fields(
        node_id=_text(node_id), model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again
    )
    path = "/v1/subjects/{id}/questions"
    return Call("POST", path, QuestionOrder, target=subject, body=body, is_repeatable=not again)


def start_quiz(subject: str, *, node_id: Id | None = None, count: int = 3) -> Call[Quiz]:
    """Your open quiz on a subject or a node of it, or a new one of at most `count` questions."""
    body = fields(subject=subject, node_id=_text(node_id), count=count)
    return Call("POST", "/v1/quizzes", Quiz, body=body, is_repeatable=True)


def quiz(quiz: Id | Quiz) -> Call[Quiz]:
    """A quiz of yours: its answers so far, and the question that comes next."""
    return get("/v1/quizzes/{id}", Quiz, target=_quiz_id(quiz))


def answer_question(quiz: Id | Quiz, question: Id | QuizQuestion, response: str) -> Call[Quiz]:
    """Answer the question that comes next. The first answer counts, however often it is sent."""
    body = {"question_id": _question_id(question), "response": response}
    path = "/v1/quizzes/{id}/answers"
    return Call("POST", path, Quiz, target=_quiz_id(quiz), body=body, is_repeatable=True)


def settle_answer(quiz: Id | Quiz, question: Id | QuizAnswer, mark: Literal["right", "wrong"]) -> Call[Quiz]:
    """Say what a doubtful answer is worth, having seen the key."""
    body = {"question_id": _question_id(question), "mark": mark}
    return Call("POST", "/v1/quizzes/{id}/settlements", Quiz, target=_quiz_id(quiz), body=body)


def _quiz_id(quiz: Id | Quiz) -> str:
    return str(quiz.quiz_id if isinstance(quiz, Quiz) else quiz)


def _question_id(question: Id | QuizQuestion) -> str:
    return str(question.question_id if isinstance(question, QuizQuestion) else question)


def _text(target: Id | None) -> str | None:
    return None if target is None else str(target)
