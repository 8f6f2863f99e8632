"""`chiron learn start|status|next|resume|stop`: the journey of the local user through a subject."""

import asyncio
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from chiron_api.acts.journeys import (
    JourneyRequest,
    ResumeRequest,
    list_journeys,
    read_lesson_of_journey,
    show_journey,
    start_journey,
    take_steps,
)
from chiron_api.acts.journeys import resume as resume_journey
from chiron_api.acts.journeys import stop as stop_journey
from chiron_api.acts.learning import GoalRequest, order_curriculum
from chiron_api.answers.journeys import Journey
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.display.markdown import print_markdown
from chiron_api.cli.display.remedies import command_line
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.learn.quiz import QuizTerminal, read_quiz
from chiron_api.cli.learn.subject import Subject
from chiron_api.reports.lessons.formats import LessonFormat, render
from chiron_api.services import Services, open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import local_time, one_line, usd
from chiron_workers.db.connect import open_pool
from chiron_workers.knowledge.lessons.reading import latest_lesson
from chiron_workers.learning.journeys import require_journey
from chiron_workers.settings import settings
from chiron_workers.states import JourneyState

POLL_S = 0.5
FOR_LEARNER = (JourneyState.DELIVERING_LESSON, JourneyState.EXERCISING, JourneyState.IDLE)


@takes_input(facts_min="--facts")
async def start(
    subject: Annotated[str, typer.Argument(help="What it is called; any name.")],
    body: JourneyRequest,
    map_only: Annotated[
        bool, typer.Option("--map-only", help="Have the map drawn up, and nothing more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Begin to learn a subject: have its map drawn up and researched, then lessons and questions, one node after the other.

    Workers take it from step to step; `chiron learn status` says where it stands, and `chiron learn next` has what waits for
    you. The same goal twice is the same journey.
    """
    if map_only:
        map_body = GoalRequest(**body.model_dump(exclude={"facts_min"}))
        await _start_map(subject, map_body, as_json=as_json)
        return
    async with open_services(settings(), pool_size=2) as services:
        begun = await start_journey.command(services, subject, body)
    journey = begun.answer
    verb = "is under way" if begun.is_new else "was under way already"
    lines = [f"The journey through {journey.subject_id} {verb}.", *status_lines(journey)]
    print_answer("\n".join(lines), journey, as_json=as_json)


async def _start_map(subject: str, body: GoalRequest, *, as_json: bool) -> None:
    async with open_services(settings(), pool_size=2) as services:
        receipt = await order_curriculum.command(services, subject, body)
    verb = "is being mapped" if receipt.is_new else "was mapped before"
    sentence = (
        f"{receipt.subject_id} {verb}, batch {receipt.batch_id}.\n"
        f"  chiron watch {receipt.batch_id}   follows it\n"
        f"  chiron learn map {receipt.subject_id}   shows the map"
    )
    batch = {"batch_id": receipt.batch_id, "run_ids": receipt.run_ids, "is_new": receipt.is_new}
    print_answer(sentence, {"subject_id": receipt.subject_id, "batch": batch}, as_json=as_json)


async def status(
    subject: Annotated[str, typer.Argument(help="The subject, by its id or its name. Default: all.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say where you stand on the way through a subject, what it cost so far and what comes next."""
    async with open_services(settings(), pool_size=2) as services:
        rows = [await show_journey(services, subject)] if subject else (await list_journeys(services)).items
    if as_json:
        for row in rows:
            typer.echo(json_line(row))
        return
    if not rows:
        typer.echo('There is no journey yet; `chiron learn start SUBJECT --goal "..."` begins one.')
    typer.echo("\n\n".join("\n".join(status_lines(journey)) for journey in rows))


def next_(
    subject: Subject,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for what workers are still doing.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Go on learning: read the lesson that waits for you, or answer the questions about it.

    What workers are still doing is waited for. Ctrl+C leaves; the same command goes on. A lesson counts as read once Enter is
    pressed after it; where the input ends, it still waits.
    """
    terminal = QuizTerminal(as_json=as_json)
    journey = asyncio.run(_for_learner(subject, terminal, waits=wait))
    if journey.state == "delivering_lesson":
        asyncio.run(_deliver(journey, as_json=as_json))
        if terminal.read("Press Enter once you have read it. ") is not None:
            journey = asyncio.run(_read(journey))
    if journey.state == "exercising" and journey.quiz_id is not None:
        quiz = terminal.ask_all(asyncio.run(read_quiz(journey.quiz_id)))
        if not as_json:
            terminal.end(quiz)
        terminal.tell("")
        journey = asyncio.run(_after_quiz(journey))
    print_answer("\n".join(status_lines(journey)), journey, as_json=as_json)


@takes_input()
async def resume(subject: Subject, body: ResumeRequest, as_json: AsJson = False) -> None:
    """Have a journey go on that stands still: where it was stopped, paused or failed.

    Runs that it has ordered and that are paused go on with it, and share what the budget leaves.
    """
    async with open_services(settings(), pool_size=2) as services:
        journey = await show_journey(services, subject)
        journey = await resume_journey.command(services, journey.journey_id, body)
    lines = [f"The journey through {journey.subject_id} goes on.", *status_lines(journey)]
    print_answer("\n".join(lines), journey, as_json=as_json)


async def stop(subject: Subject, as_json: AsJson = False) -> None:
    """Stop a journey and cancel what it has under way. What was found and learnt stays; `chiron learn resume` goes on."""
    async with open_services(settings(), pool_size=2) as services:
        journey = await show_journey(services, subject)
        journey = await stop_journey.command(services, journey.journey_id)
    print_answer("\n".join(status_lines(journey)), journey, as_json=as_json)


def status_lines(journey: Journey) -> Iterator[str]:
    """Where a journey stands, a line each."""
    state = journey.state.replace("_", " ")
    held = f" ({journey.event.replace('_', ' ')})" if journey.state == "idle" else ""
    yield f"{journey.subject_id}: {state}{held} since {local_time(journey.since, '%Y-%m-%d %H:%M')}"
    yield f"  goal    {one_line(journey.goal)} ({one_line(journey.depth)})"
    if journey.reason:
        yield f"  why     {one_line(journey.reason)}"
    if journey.way:
        mastered = sum(item.is_mastered for item in journey.way)
        yield f"  nodes   {mastered} of {len(journey.way):,} that the goal needs are mastered"
    budget = f" of {usd(journey.budget_usd)}" if journey.budget_usd is not None else ""
    yield f"  cost    {usd(journey.spent_usd)}{budget}"
    for batch_id in journey.batches:
        yield f"  batch   {batch_id}   chiron watch {batch_id}"
    if journey.next_review_at is not None:
        yield f"  review  {local_time(journey.next_review_at, '%Y-%m-%d %H:%M')}"
    yield f"  next    {one_line(journey.next_step)}"
    if words := _command(journey):
        yield f"          {command_line('learn', *words)}"


def _command(journey: Journey) -> tuple[str, ...]:
    """The words of the next command of the learner; none while workers work."""
    if journey.state in (JourneyState.DELIVERING_LESSON, JourneyState.EXERCISING):
        return "next", journey.subject_id
    if journey.held_state is not None:
        return "resume", journey.subject_id
    if journey.event == "nothing_found":
        return "start", journey.subject_id, "--goal", one_line(journey.goal), "--again"
    return ()


async def _for_learner(subject: str, terminal: QuizTerminal, *, waits: bool) -> Journey:
    """The journey once something waits for the learner, or as it is."""
    async with open_services(settings(), pool_size=2) as services:
        journey = await _moved_on(services, await show_journey(services, subject))
        if journey.state in FOR_LEARNER or not waits:
            return journey
        terminal.tell("\n".join(status_lines(journey)))
        terminal.tell("A worker has to run. Ctrl+C leaves.")
        while journey.state not in FOR_LEARNER:
            await asyncio.sleep(POLL_S)
            journey = await _moved_on(services, journey)
        return journey


async def _moved_on(services: Services, journey: Journey) -> Journey:
    """A journey after the steps that can be taken now."""
    row = await require_journey(services.pool, services.principal.owner, journey.subject_id)
    return await take_steps(services, row)


async def _deliver(journey: Journey, *, as_json: bool) -> None:
    assert journey.node_id is not None
    async with open_pool(settings().database_url, size=2) as pool:
        lesson = await latest_lesson(pool, journey.subject_id, journey.node_id)
    assert lesson is not None
    text = "".join(render(lesson, LessonFormat.MD))
    if sys.stdout.isatty() and not as_json:
        print_markdown(text)
    else:
        typer.echo(text, nl=False, err=as_json)


async def _read(journey: Journey) -> Journey:
    async with open_services(settings(), pool_size=2) as services:
        return await read_lesson_of_journey.command(services, journey.journey_id)


async def _after_quiz(journey: Journey) -> Journey:
    async with open_services(settings(), pool_size=2) as services:
        return await _moved_on(services, journey)
