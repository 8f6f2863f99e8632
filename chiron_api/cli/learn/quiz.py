"""The command `chiron learn quiz`: questions in the terminal, one after the other."""

import asyncio
import sys
from typing import Annotated, Literal
from uuid import UUID

import typer

from chiron_api.acts.quizzes import (
    AnswerRequest,
    QuestionRequest,
    QuizRequest,
    SettlementRequest,
    answer_of,
    answer_question,
    settle_answer,
    write_questions,
)
from chiron_api.cli.batch_end import end_of
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import Draft, takes_input
from chiron_api.cli.learn.subject import Subject
from chiron_api.services import Services, open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count as counted
from chiron_api.text import printable
from chiron_workers.access.audit import command
from chiron_workers.knowledge.assessment.questions import StoredQuestion
from chiron_workers.knowledge.assessment.quizzes import MarkedAnswer, NoQuestions, Quiz
from chiron_workers.learning.lesson_orders import find_node
from chiron_workers.settings import settings
from chiron_workers.states import Mark

ADVICE = (
    "Batch {batch_id} wrote none. `chiron show {batch_id}` says why and what helps; --again begins another one, which is paid "
    "for again."
)
NODES_LEFT = "{left:,} nodes are left; `chiron learn quiz {subject} --again` goes on with them once these have questions."
RESUME_HINT = "The quiz stays where it is; the same command goes on with it."


@takes_input(without=("node_id",))
@takes_input(without=("subject", "node_id"))
def quiz(
    subject: Subject,
    node: Annotated[
        str, typer.Argument(help="A node of its map, by its id or its title. Default: all of it.")
    ] = "",
    *,
    draft: Draft[QuizRequest],
    order: Draft[QuestionRequest],
    as_json: AsJson = False,
) -> None:
    """Be asked what you know of a subject, one question at a time, and see what your answers are worth.

    Ctrl+C leaves the quiz, and the same command goes on with it. Where nobody has written questions yet, they are written
    first, from stored facts. Answers are read from the standard input, a line each. An answer that nobody can mark for
    certain is put to you with its key.
    """
    session = QuizTerminal(as_json=as_json)
    quiz = asyncio.run(_start(draft, order, subject, node, session))
    try:
        quiz = session.ask_all(quiz)
    except KeyboardInterrupt:
        session.tell(f"\n{RESUME_HINT}")
        raise
    session.end(quiz)


class QuizTerminal:
    """Asks and tells at a terminal or a pipe; with `as_json` that goes beside the document that is printed at the end."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def tell(self, text: str) -> None:
        """Print a line, after an empty one where it begins with a line break."""
        blank = "\n" if text.startswith("\n") else ""
        typer.echo(f"{blank}{printable(text)}", err=self._as_json)

    def read(self, prompt: str) -> str | None:
        """A line without its end; None where there is none any more."""
        typer.echo(prompt, nl=False, err=self._as_json)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            self.tell("")
        return line.rstrip("\r\n") if line else None

    def respond(self, question: StoredQuestion) -> str | None:
        """What the learner answers to a question that was printed; None where nobody answers any more."""
        return self.read("> ")

    def ask_all(self, quiz: Quiz) -> Quiz:
        """Ask what is left of a quiz, then what is doubtful of it; the quiz as it is then."""
        while quiz.current is not None:
            self.tell(f"\n{quiz.number} of {quiz.questions}  {quiz.current.text}")
            response = self.respond(quiz.current)
            if response is None:
                return quiz
            question_id = quiz.current.id
            quiz = asyncio.run(_answer(quiz.id, question_id, response))
            self.tell_mark(next(item for item in quiz.answers if item.question.id == question_id))
        for answer in quiz.doubtful:
            if answer.marked_by is None:
                continue  # the judge has it
            self.tell(f"\n{answer.question.text}\nYou: {answer.response}\nKey: {answer.question.key}")
            self.tell(answer.reason)
            line = self.read("Is your answer right? [y/n, Enter leaves it open] ")
            if line is None:
                break
            if (word := line.strip().casefold()[:1]) in ("y", "n"):
                quiz = asyncio.run(_settle(quiz.id, answer.question.id, "right" if word == "y" else "wrong"))
        return quiz

    def tell_mark(self, answer: MarkedAnswer) -> None:
        """Print what an answer is worth."""
        self.tell(f"{answer.mark}: {answer.reason}")
        if answer.mark is not Mark.RIGHT:
            mark = f" ({answer.question.key_mark})" if answer.question.key_mark else ""
            self.tell(f"The key{mark}: {answer.question.key}. {answer.question.statement}")

    def end(self, quiz: Quiz) -> None:
        """Print how the quiz stands."""
        answer = answer_of(quiz)
        if self._as_json:
            typer.echo(json_line(answer))
            return
        marks = f"{answer.right} right, {answer.wrong} wrong, {answer.doubtful} doubtful"
        typer.echo(f"\n{counted(len(quiz.answers), 'answer')}: {marks}.")
        if not quiz.is_finished:
            typer.echo(RESUME_HINT)


async def _start(
    draft: Draft[QuizRequest], order: Draft[QuestionRequest], subject: str, node: str, terminal: QuizTerminal
) -> Quiz:
    async with open_services(settings(), pool_size=2) as services:
        async with services.store() as store:
            subject_id = (await store.subjects.require(subject))["subject_id"]
            branch = await find_node(services.pool, subject_id, node) if node else None
            node_id = UUID(branch["node_id"]) if branch else None
            has_questions = bool(await store.questions.pick(subject_id, node_id, limit=1))
        body, request = draft.complete(subject=subject_id, node_id=node_id), order.complete(node_id=node_id)
        advice = ""
        if request.again or not has_questions:
            batch_id = await _have_written(services, subject_id, request, terminal)
            advice = ADVICE.format(batch_id=batch_id)
        try:
            async with command(services.pool, "quizzes.create") as made, services.store() as store:
                quiz, _ = await store.quizzes.start(subject_id, node_id, count=body.count)
                made["quizzes"] = quiz.id
        except NoQuestions as error:
            raise NoQuestions(f"{error} {advice}".strip()) from None
        return quiz


async def read_quiz(quiz_id: UUID) -> Quiz:
    """A quiz of the local user. Raises NotFound."""
    async with open_services(settings(), pool_size=2) as services, services.store() as store:
        return await store.quizzes.get(quiz_id)


async def _have_written(
    services: Services, subject_id: str, request: QuestionRequest, terminal: QuizTerminal
) -> UUID:
    """Have questions written, and wait for the batch that writes them; its id. It ends also where none was written."""
    batch = await write_questions.command(services, subject_id, request)
    if batch.nodes_left:
        terminal.tell(NODES_LEFT.format(left=batch.nodes_left, subject=subject_id))
    terminal.tell(
        f"Questions are being written by batch {batch.batch_id}; a worker has to run. Ctrl+C leaves."
    )
    await end_of(services.pool, batch.batch_id)
    return batch.batch_id


async def _answer(quiz_id: UUID, question_id: UUID, response: str) -> Quiz:
    body = Draft(AnswerRequest, names={"response": "The answer"}).complete(
        question_id=question_id, response=response
    )
    async with open_services(settings(), pool_size=2) as services:
        await answer_question.command(services, quiz_id, body)
    return await read_quiz(quiz_id)


async def _settle(quiz_id: UUID, question_id: UUID, mark: Literal["right", "wrong"]) -> Quiz:
    async with open_services(settings(), pool_size=2) as services:
        await settle_answer.command(services, quiz_id, SettlementRequest(question_id=question_id, mark=mark))
    return await read_quiz(quiz_id)
