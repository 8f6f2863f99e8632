"""Quizzes: questions, answers and their marks."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer

QuestionKind = Literal["recall", "application", "transfer"]


class QuizQuestion(Answer):
    """A question of a quiz."""

    question_id: UUID
    node_id: UUID
    kind: QuestionKind
    text: str


class QuizAnswer(QuizQuestion):
    """An answered question with its key, the sentence that says it, and the facts that bear it out.

    A doubtful answer counts for nothing until it is settled; `marked_by` is null until it is marked. `key_verdict_by` is
    the model that found the key supported. If no model did, it is empty, and `key_mark` says so.
    """

    response: str
    mark: Literal["right", "wrong", "doubtful"]
    reason: str
    marked_by: Literal["rule", "model", "learner"] | None
    key: str
    key_mark: str = ""
    key_verdict_by: str = ""
    statement: str
    fact_ids: list[UUID]
    at: datetime


class Quiz(Answer):
    """A quiz of its learner; `question` is the one to answer next, null where it is finished."""

    quiz_id: UUID
    subject_id: str
    node_id: UUID | None
    state: Literal["open", "finished"]
    questions: int
    number: int
    right: int
    wrong: int
    doubtful: int
    question: QuizQuestion | None
    answers: list[QuizAnswer]
    created_at: datetime


class QuestionOrder(Answer):
    """The batch whose runs write questions, one for each node.

    `nodes_left` have facts and are not among them; the same order goes on with them once these have questions.
    """

    batch_id: UUID
    run_ids: list[UUID]
    is_new: bool
    nodes_left: int
