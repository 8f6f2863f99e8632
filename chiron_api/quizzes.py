"""A quiz as a document for front ends."""

from typing import Any

from chiron_workers.knowledge.assessment.questions import StoredQuestion
from chiron_workers.knowledge.assessment.quizzes import MarkedAnswer, Quiz
from chiron_workers.states import Mark


def quiz_document(quiz: Quiz) -> dict[str, Any]:
    """A quiz as front ends show it; a question that is not answered has no key."""
    return {
        "quiz_id": quiz.id,
        "subject_id": quiz.subject_id,
        "node_id": quiz.node_id,
        "state": "finished" if quiz.is_finished else "open",
        "questions": quiz.questions,
        "number": quiz.number,
        "right": sum(answer.mark is Mark.RIGHT for answer in quiz.answers),
        "wrong": sum(answer.mark is Mark.WRONG for answer in quiz.answers),
        "doubtful": len(quiz.doubtful),
        "question": None if quiz.current is None else _question(quiz.current),
        "answers": [_answer(answer) for answer in quiz.answers],
        "created_at": quiz.created_at,
    }


def _question(question: StoredQuestion) -> dict[str, Any]:
    return {
        "question_id": question.id,
        "node_id": question.node_id,
        "kind": question.kind,
        "text": question.text,
    }


def _answer(answer: MarkedAnswer) -> dict[str, Any]:
    return _question(answer.question) | {
        "response": answer.response,
        "mark": answer.mark,
        "reason": answer.reason,
        "marked_by": answer.marked_by,
        "key": answer.question.key,
        "key_mark": answer.question.key_mark,
        "key_verdict_by": answer.question.verdict_by,
        "statement": answer.question.statement,
        "fact_ids": list(answer.question.fact_ids),
        "at": answer.at,
    }
