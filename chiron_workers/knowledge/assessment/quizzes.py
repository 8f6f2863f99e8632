"""Quizzes of learners: questions in an order, one after the other, and their marked answers."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.access.audit import record_within
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text
from chiron_workers.errors import Conflict, NotFound
from chiron_workers.knowledge.assessment.questions import Questions, StoredQuestion
from chiron_workers.knowledge.assessment.reviews import Answered, Reviews
from chiron_workers.knowledge.coverage.assessments import RESPONSE_CHARS_MAX
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.runs.session import Session
from chiron_workers.states import Mark, Marker

if TYPE_CHECKING:
    from chiron_workers.knowledge.assessment.marking_rules import Marking

SQL = load(__file__)
COUNT_MAX = 50  # of the questions of a quiz
NO_QUESTIONS = "There are no questions on {place} yet; have them written first."
NO_NODE = "{subject} has no node with the id {node_id}."


class NoQuestions(Conflict):
    """Nothing is stored that a quiz could ask; questions have to be written first."""


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer with its question, key and mark; `marked_by` is None while nobody has marked it."""

    question: StoredQuestion
    response: str
    mark: Mark
    reason: str
    marked_by: Marker | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Quiz:
    """A quiz of its learner: the answers so far in its order, and the question that comes next; None at its end."""

    id: UUID
    learner: str
    subject_id: str
    node_id: UUID | None
    questions: int
    created_at: datetime
    answers: tuple[MarkedAnswer, ...]
    current: StoredQuestion | None
    number: int  # of the current question, from 1; past the end the number of questions

    @property
    def is_finished(self) -> bool:
        """Whether no question comes any more."""
        return self.current is None

    @property
    def doubtful(self) -> tuple[MarkedAnswer, ...]:
        """The answers that wait for the judge or for the learner."""
        return tuple(answer for answer in self.answers if answer.mark is Mark.DOUBTFUL)


class Quizzes:
    """The quizzes of the caller's owner, who is the learner: nobody sees those of anybody else."""

    def __init__(self, session: Session, questions: Questions, reviews: Reviews) -> None:
        self._session = session
        self._questions = questions
        self._reviews = reviews

    async def start(self, subject_id: str, node_id: UUID | None, *, count: int) -> tuple[Quiz, bool]:
        """The learner's open quiz on a subject or a node, or a new one of `count` questions at most; whether it is new.

        Raises:
            NotFound: The subject has no such node.
            NoQuestions: None is stored that could be asked.
        """
        if node_id is not None:
            node_id = await self._held_node(subject_id, node_id)
        args = {"learner": self._learner, "subject_id": subject_id, "node_id": node_id}
        await self._session.write(SQL["lock"], args)
        for row in await self._session.rows(SQL["open"], args):
            quiz = await self.get(row["id"])
            if not quiz.is_finished:
                return quiz, False
            await self._session.write(SQL["close"], {"id": quiz.id})
        question_ids = await self._questions.pick(subject_id, node_id, limit=count)
        if not question_ids:
            raise NoQuestions(NO_QUESTIONS.format(place=f"node {node_id}" if node_id else repr(subject_id)))
        quiz_id = ids.new_id()
        await self._session.write(SQL["add"], args | {"id": quiz_id, "question_ids": question_ids})
        await record_within(await self._session.begin(), quizzes=quiz_id)
        return await self.get(quiz_id), True

    async def has_questions(self, subject_id: str, node_id: UUID) -> bool:
        """Whether something can be asked about a node."""
        return bool(await self._questions.pick(subject_id, node_id, limit=1))

    async def get(self, quiz_id: UUID) -> Quiz:
        """A quiz of the learner. Raises NotFound where there is none of that id."""
        row = await self._session.row(SQL["get"], {"id": quiz_id, "learner": self._learner})
        if row is None:
            raise NotFound(f"There is no quiz with the id {quiz_id}.")
        question_ids: list[UUID] = row["question_ids"]
        questions = await self._questions.by_id(question_ids)
        answer_rows = await self._session.rows(SQL["answers"], {"id": quiz_id})
        answers = {answer["question_id"]: answer for answer in answer_rows}
        ahead = [key for key in question_ids[row["position"] :] if key not in answers]
        standing_ids = await self._questions.standing(ahead) if ahead else set()
        current = next((questions[key] for key in ahead if key in standing_ids), None)
        return Quiz(
            id=quiz_id,
            learner=row["learner"],
            subject_id=row["subject_id"],
            node_id=row["node_id"],
            questions=len(question_ids),
            created_at=row["created_at"],
            answers=tuple(
                _answer(questions[key], answers[key])
                for key in question_ids
                if key in answers and key in questions
            ),
            current=current,
            number=question_ids.index(current.id) + 1 if current else len(question_ids),
        )

    async def answer(self, quiz_id: UUID, question_id: UUID, response: str) -> Quiz:
        """Take the learner's answer to a question of the quiz, mark it as far as rules can, and go on.

        The first answer to a question counts; whatever is sent for it afterwards changes nothing.

        Raises:
            NotFound: The learner has no such quiz, or it has no such question.
            Conflict: Another question comes first, or its facts no longer stand.
        """
        from chiron_workers.knowledge.assessment.marking_rules import mark_by_rules

        quiz = await self.get(quiz_id)
        if any(answer.question.id == question_id for answer in quiz.answers):
            return quiz
        question = (await self._questions.by_id([question_id])).get(question_id)
        row = await self._session.row(SQL["has_question"], {"id": quiz_id, "question_id": question_id})
        if question is None or row is None:
            raise NotFound(f"Quiz {quiz_id} has no question with the id {question_id}.")
        if quiz.current is None or quiz.current.id != question_id:
            raise Conflict("The quiz is at another question; read it again and answer that one.")
        text = response.strip() and clean_text(response, field="response", chars_max=RESPONSE_CHARS_MAX)
        decision = await asyncio.to_thread(mark_by_rules, text, question.key)
        await self._store(quiz_id, question, text, decision)
        await record_within(await self._session.begin(), quizzes=quiz_id)
        return await self.get(quiz_id)

    async def settle(self, quiz_id: UUID, question_id: UUID, mark: Mark) -> Quiz:
        """Let the learner say what a doubtful answer is worth, right or wrong, having seen the key.

        Raises:
            NotFound: The learner has no such quiz, or has not answered that question in it.
            Conflict: The answer is not doubtful.
        """
        quiz = await self.get(quiz_id)
        answer = next((answer for answer in quiz.answers if answer.question.id == question_id), None)
        if answer is None:
            raise NotFound(f"No answer to question {question_id} was given in quiz {quiz_id}.")
        if mark is Mark.DOUBTFUL:
            raise Conflict("An answer is settled as right or as wrong.")
        words = "The learner holds it to be right." if mark is Mark.RIGHT else "The learner takes it back."
        await Nodes(self._session).hold(answer.question.node_id)
        args = {"id": quiz_id, "question_id": question_id, "mark": mark, "marked_by": Marker.LEARNER}
        rows = await self._session.write(SQL["settle"], args | {"reason": f"{words} {answer.reason}"})
        if not rows:
            raise Conflict(f"The answer is marked {answer.mark}, so there is nothing to settle.")
        await self._schedule(rows[0])
        await record_within(await self._session.begin(), quizzes=quiz_id)
        return await self.get(quiz_id)

    async def _store(self, quiz_id: UUID, question: StoredQuestion, text: str, decision: "Marking") -> None:
        args = {
            "id": ids.new_id(),
            "learner": self._learner,
            "node_id": await Nodes(self._session).hold(question.node_id),
            "question_hash": question.question_hash,
            "response": text,
            "quiz_id": quiz_id,
            "question_id": question.id,
            "mark": decision.mark,
            "reason": decision.reason,
            "marked_by": decision.marked_by,
        }
        rows = await self._session.write(SQL["add_answer"], args)
        await self._session.write(SQL["move"], {"id": quiz_id, "question_id": question.id})
        if rows and decision.mark is not Mark.DOUBTFUL:
            await self._schedule(rows[0])

    async def _held_node(self, subject_id: str, node_id: UUID) -> UUID:
        """A node of the subject, or the one that it was merged into. Raises NotFound."""
        rows = await self._session.rows(SQL["has_node"], {"subject_id": subject_id, "node_id": node_id})
        if not rows:
            raise NotFound(NO_NODE.format(subject=subject_id, node_id=node_id))
        return await Nodes(self._session).hold(node_id)

    async def _schedule(self, row: DictRow) -> None:
        answer = Answered(
            row["learner"], row["node_id"], row["question_hash"], is_right=row["correct"], at=row["at"]
        )
        await self._reviews.schedule(answer)

    @property
    def _learner(self) -> str:
        return self._session.caller.owner


async def leave_to_learner(session: Session, quiz: Quiz, reason: str) -> Quiz:
    """Say of the answers that nobody has marked why nobody does, so that their learner settles them; the quiz as it is then."""
    args = {"id": quiz.id, "marked_by": Marker.RULE, "reason": reason}
    rows = await session.write(SQL["leave_to_learner"], args)
    left_ids = {row["question_id"] for row in rows}
    answers = (
        replace(answer, reason=reason, marked_by=Marker.RULE) if answer.question.id in left_ids else answer
        for answer in quiz.answers
    )
    return replace(quiz, answers=tuple(answers))


def _answer(question: StoredQuestion, row: DictRow) -> MarkedAnswer:
    marked_by = Marker(row["marked_by"]) if row["marked_by"] else None
    return MarkedAnswer(question, row["response"], Mark(row["mark"]), row["reason"], marked_by, row["at"])
