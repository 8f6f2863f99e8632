"""Journeys of real workers that are killed at every move: the rows are those of a journey that nobody disturbed."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from support.databases import Databases
from support.worker_processes import chiron, end_leases, rows, running, wait_until

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.learning.journey_steps import quizzes_of
from chiron_workers.learning.journeys import Journey, require_journey
from chiron_workers.learning.starts import lesson_read
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import JourneyState

GOAL = "Understand mosses"
LESSONS = 1  # after which the comparison is made
PAGES = {
    "bogs.md": "# Bogs\n\nPeat moss grows in bogs. Peat moss holds twenty times its weight of water. "
    "Bogs are wetlands that gather peat.\n\n## Peat\n\nPeat is dead moss that has not rotted. Peat grows by 1 mm a year.\n",
    "roofs.md": "# Roofs\n\nMoss on roofs holds rain. A roof with moss holds 20 litres on each square metre. "
    "Roofs are where moss meets people.\n\n## Rain\n\nRain runs off a bare roof at once. Rain feeds bogs and moss.\n",
}
ROWS = {
    "moves": "select step, event, state from journey_moves order by step",
    "runs": "select role, topic, state from runs order by role, topic",
    "nodes": "select title, is_goal_critical from nodes order by title",
    "facts": "select content, topic_path, status from facts order by content, topic_path",
    # Which of two equally sure facts comes first is decided by runs that play at once.
    "lessons": "select l.title, s.text from lessons l join lesson_sentences s on s.lesson_id = l.id where l.state = 'handed_in'"
    " order by l.title, s.text",
    "questions": "select text, key from questions order by text",
    "answers": "select response, mark from assessments order by response, mark",
    "batches": "select count(*)::int as batches from journey_batches",
}


def begin(settings: Settings) -> None:
    library = settings.home / "library"
    library.mkdir(parents=True)
    for name, text in PAGES.items():
        (library / name).write_text(text)
    added = chiron(settings, "corpus", "add", str(library), "--subject", "Moss")
    assert added.returncode == 0, added.stderr
    started = chiron(
        settings, "learn", "start", "Moss", "--goal", GOAL, "--facts", "1", CHIRON_MODEL="offline"
    )
    assert started.returncode == 0, started.stderr


def journey_row(settings: Settings) -> dict[str, Any]:
    return rows(settings, "select state, step, quiz_id from journeys")[0]


async def learn(pool: Pool, journey: Journey) -> None:
    """What a learner does who knows each key."""
    if journey.state is JourneyState.DELIVERING_LESSON:
        await lesson_read(pool, journey)
    elif journey.state is JourneyState.EXERCISING and journey.quiz_id is not None:
        async with Session(pool, journey.caller) as session:
            quizzes = quizzes_of(session)
            quiz = await quizzes.get(journey.quiz_id)
            while quiz.current is not None:
                quiz = await quizzes.answer(quiz.id, quiz.current.id, quiz.current.key)


def rests(settings: Settings) -> bool:
    """Whether the learner is next, and no run is left that a move has ordered."""
    is_waiting = journey_row(settings)["state"] in ("delivering_lesson", "exercising")
    return is_waiting and not rows(settings, "select 1 from runs where state in ('queued', 'running')")


async def travel(settings: Settings, *, kills: bool) -> int:
    """Go on until a lesson was read and asked about and the journey rests, or nothing is left; how many workers were killed."""
    begin(settings)
    killed, step = 0, 0
    async with open_pool(settings.database_url, size=2) as pool:
        with ExitStack() as workers:

            def start(name: str) -> Any:
                options = {"CHIRON_MODEL": "offline", "CHIRON_RESCUE_S": "0.2"}
                return workers.enter_context(running(settings, name=name, **options))

            worker = start("w0")
            while True:
                journey = await require_journey(pool, "local", "moss")
                finished = rows(settings, "select 1 from journey_moves where event = 'quiz_finished'")
                if (len(finished) >= LESSONS and rests(settings)) or journey.state is JourneyState.IDLE:
                    break
                if kills and journey.step != step:
                    worker.kill()
                    end_leases(settings)
                    killed += 1
                    worker = start(f"w{killed}")
                step = journey.step
                await learn(pool, journey)
                await asyncio.to_thread(
                    wait_until,
                    lambda step=step: (
                        journey_row(settings)["step"] != step
                        or journey_row(settings)["state"] in ("delivering_lesson", "exercising")
                    ),
                    what=f"the journey leaves step {step}",
                )
                await asyncio.sleep(0.02)
            worker.stop()
    return killed


async def test_workers_that_are_killed_at_every_move_leave_the_rows_of_an_undisturbed_journey(
    settings: Settings, databases: Databases, tmp_path: Path
) -> None:
    await travel(settings, kills=False)
    undisturbed = {name: rows(settings, query) for name, query in ROWS.items()}
    assert undisturbed["lessons"]
    assert undisturbed["answers"]
    with databases.lend() as url:
        own = settings.model_copy(update={"database_url": url, "home": tmp_path / "other"})
        killed = await travel(own, kills=True)
        disturbed = {name: rows(own, query) for name, query in ROWS.items()}
    print(f"{killed} workers killed, {len(disturbed['moves'])} moves")
    assert killed >= 6
    for name, expected in undisturbed.items():
        assert disturbed[name] == expected, name
