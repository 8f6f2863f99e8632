"""The demo of learning: one journey from a goal to three marked answers."""

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import typer

from chiron_api.acts.journeys import JourneyRequest, start_journey
from chiron_api.cli.demo.home import HONESTY, SUBJECT, DemoHome
from chiron_api.cli.display.markdown import print_markdown
from chiron_api.cli.learn.quiz import QuizTerminal, read_quiz
from chiron_api.reports.lessons.formats import LessonFormat, render
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_api.views.coverage_maps import load_map, tree_lines
from chiron_workers.access.audit import command
from chiron_workers.access.principals import LOCAL_OWNER
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.assessment.questions import StoredQuestion
from chiron_workers.knowledge.assessment.quizzes import Quiz
from chiron_workers.knowledge.coverage.nodes import flatten
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.lessons.reading import Lesson, latest_lesson
from chiron_workers.learning import starts
from chiron_workers.learning.journeys import Journey, Move, moves_of, require_journey
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.states import JourneyEvent, JourneyState, Mark

GOAL = "Understand how exceptions are raised and handled"
DEPTH = "overview"
CONCURRENCY = 4
POLL_S = 0.25
SAYINGS = {
    JourneyState.INITIALIZING: "a run draws up the map of the goal",
    JourneyState.RESEARCHING: "a run for each node looks for facts, with the words they rest on",
    JourneyState.ASSESSING: "the next node is chosen, and questions are written about it",
    JourneyState.GENERATING_LESSON: "its lesson is written, from stored facts alone",
    JourneyState.DELIVERING_LESSON: "the lesson waits for you",
    JourneyState.EXERCISING: "three questions wait for you",
    JourneyState.IDLE: "it stands still",
}
NEXT_ROUND = "the round is over; what the goal still lacks is researched again"
NO_TERMINAL = "Nobody is asked, as this is no terminal: the demo answers by itself, with the keys."


@dataclass(frozen=True, slots=True)
class Tally:
    """What a journey has come to so far."""

    nodes: int
    facts: int


def learn(home: DemoHome, began: float) -> None:
    """Go the whole way, tell what was done, and leave the home where it is.

    Args:
        began: When the command was called, on the monotonic clock.

    Raises:
        ChironError: The journey stands still before its end.
    """
    with home.running(concurrency=CONCURRENCY, leaves_home=True) as folder:
        lesson = asyncio.run(_to_lesson(home))
        _show_lesson(home, lesson)
        quiz = asyncio.run(_to_quiz(home))
        terminal = QuizTerminal(as_json=home.as_json) if _has_learner(home) else _Answering(home)
        quiz = terminal.ask_all(quiz)
        tally = asyncio.run(_tally())
        home.keep_open()
    if home.as_json:
        _print_json(tally, lesson, quiz, folder, time.monotonic() - began)
    else:
        _print_end(tally, lesson, quiz, folder, time.monotonic() - began)


class _Answering(QuizTerminal):
    """Answers by itself, with the keys."""

    def __init__(self, home: DemoHome) -> None:
        super().__init__(as_json=home.as_json)
        self._home = home
        home.report(NO_TERMINAL)

    def tell(self, text: str) -> None:
        """Print a line for people."""
        self._home.report(text)

    def respond(self, question: StoredQuestion) -> str | None:
        """The key of the question."""
        self.tell(f"> {question.key}")
        return question.key


def _has_learner(home: DemoHome) -> bool:
    return not home.as_json and sys.stdin.isatty() and sys.stdout.isatty()


async def _to_lesson(home: DemoHome) -> Lesson:
    """Begin a journey, and follow it until its first lesson waits."""
    async with open_services(settings(), pool_size=2) as services:
        pool = services.pool
        await home.fill_corpus(pool)
        home.report(f"\nThe goal: {GOAL} ({DEPTH})")
        body = JourneyRequest(goal=GOAL, depth=DEPTH, model=OFFLINE_MODEL)
        await start_journey.command(services, SUBJECT, body)
        journey = await require_journey(pool, LOCAL_OWNER, slug(SUBJECT))
        journey = await _follow(home, pool, journey, JourneyState.DELIVERING_LESSON)
        assert journey.node_id is not None
        lesson = await latest_lesson(pool, journey.subject_id, journey.node_id)
        assert lesson is not None
        return lesson


async def _to_quiz(home: DemoHome) -> Quiz:
    """Say that the lesson was read, and wait for the questions about it."""
    async with open_pool(settings().database_url, size=2) as pool:
        journey = await require_journey(pool, LOCAL_OWNER, slug(SUBJECT))
        async with command(pool, "journeys.read", journey.id):
            await starts.lesson_read(pool, journey)
        journey = await _follow(home, pool, journey, JourneyState.EXERCISING)
        while journey.quiz_id is None:  # ends: a worker starts the quiz
            await asyncio.sleep(POLL_S)
            journey = await require_journey(pool, LOCAL_OWNER, journey.subject_id)
    return await read_quiz(journey.quiz_id)


async def _follow(home: DemoHome, pool: Pool, journey: Journey, target: JourneyState) -> Journey:
    """Tell each move of a journey until it is where it is to come. Raises ChironError where it stands still."""
    step = journey.step - 1 if journey.state is JourneyState.INITIALIZING else journey.step
    while True:  # ends: runs end, or the journey is held
        for move in reversed(await moves_of(Session(pool), journey)):
            if move.step > step:
                step = move.step
                await _tell_move(home, pool, move)
                if home.as_json:
                    typer.echo(json_line(move))
        if journey.state is target:
            return journey
        if journey.state is JourneyState.IDLE:
            raise ChironError(f"The journey stands still: {journey.reason or journey.event}.")
        await asyncio.sleep(POLL_S)
        journey = await require_journey(pool, journey.learner, journey.subject_id)


async def _tell_move(home: DemoHome, pool: Pool, move: Move) -> None:
    if move.event in (JourneyEvent.MAPPED, JourneyEvent.RESEARCHED):
        coverage = await load_map(Session(pool), slug(SUBJECT))
        home.report("\n".join(["", *(f"  {line}" for line in tree_lines(coverage)), ""]))
    saying = NEXT_ROUND if move.event is JourneyEvent.ROUND_ENDED else SAYINGS[move.state]
    home.report(f"{move.state.replace('_', ' ')}: {saying}")


def _show_lesson(home: DemoHome, lesson: Lesson) -> None:
    text = "".join(render(lesson, LessonFormat.MD))
    if home.as_json:
        return
    if sys.stdout.isatty():
        print_markdown(text)
    else:
        typer.echo(f"\n{text}")


async def _tally() -> Tally:
    async with open_pool(settings().database_url, size=1) as pool:
        coverage = await load_map(Session(pool), slug(SUBJECT))
    return Tally(len(list(flatten(coverage.tops))), sum(coverage.facts.values()))


def _citations(lesson: Lesson) -> int:
    return sum(len(sentence.fact_ids) for section in lesson.sections for sentence in section.sentences)


def _print_json(tally: Tally, lesson: Lesson, quiz: Quiz, folder: Path, elapsed_s: float) -> None:
    totals = {
        "subject_id": quiz.subject_id,
        "nodes": tally.nodes,
        "facts": tally.facts,
        "lesson_id": str(lesson.line.id),
        "citations": _citations(lesson),
        "questions": quiz.questions,
        "answers": len(quiz.answers),
        "right": sum(answer.mark is Mark.RIGHT for answer in quiz.answers),
        "home": str(folder),
        "elapsed_s": round(elapsed_s, 1),
    }
    typer.echo(json.dumps(totals))


def _print_end(tally: Tally, lesson: Lesson, quiz: Quiz, folder: Path, elapsed_s: float) -> None:
    right = sum(answer.mark is Mark.RIGHT for answer in quiz.answers)
    typer.echo(
        f"\nWhat it did: a map of {count(tally.nodes, 'node')}, {count(tally.facts, 'fact')} on them, a lesson on "
        f"{lesson.line.title!r} with {count(_citations(lesson), 'citation')}, "
        f"{count(len(quiz.answers), 'answer')} of which {right} right, {elapsed_s:.0f} s in all.\n"
        f"{HONESTY}\n"
        f"Its home stays in {folder}; delete the folder once you are done.\n\n"
        "Where to look next:\n"
        f"  export CHIRON_HOME={folder} CHIRON_MODEL=offline\n"
        "  chiron up --detach                           start that home again; chiron down stops it\n"
        f"  {f'chiron learn status {quiz.subject_id}':<44} where you stand, and what comes next\n"
        f"  {f'chiron learn next {quiz.subject_id}':<44} the next lesson, and questions about it\n"
        "  chiron open                                  the page: map, lessons, quizzes, facts with their sources\n"
        "  chiron corpus add DOCS --subject NAME        make documents of your own the sources\n"
        '  chiron learn start NAME --goal "..."         learn from them; with ANTHROPIC_API_KEY Claude teaches'
    )
