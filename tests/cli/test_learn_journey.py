"""`chiron learn start|status|next|stop|resume`: a journey at the terminal, while workers do their part."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from support.played_course import Player
from support.research_rows import Shelf
from typer.testing import Result

from chiron_workers.db.connect import Pool
from chiron_workers.learning.orchestrator import advance_due

Command = Callable[..., Result]
START = ("learn", "start", "moon", "--goal", "Understand why the Moon does not fall.", "--facts", "2")


@pytest.fixture
def player(pool: Pool, shelf: Shelf) -> Player:
    return Player(pool, shelf)


async def run(chiron: Command, *arguments: str, code: int = 0, stdin: str = "") -> str:
    result = await asyncio.to_thread(chiron, *arguments, stdin=stdin)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


async def work(player: Player) -> None:
    """What workers do until something waits for the learner."""
    for _ in range(30):
        await advance_due(player.pool)
        await player.play_all()


async def test_a_learner_goes_from_a_goal_to_what_is_mastered(chiron: Command, player: Player) -> None:
    begun = await run(chiron, *START)
    assert "The journey through moon is under way." in begun
    assert "moon: initializing since" in begun
    assert "chiron watch" in begun
    assert "was under way already" in await run(chiron, *START)
    await work(player)
    status = await run(chiron, "learn", "status", "moon")
    assert "moon: delivering lesson since" in status
    assert "nodes   0 of 2 that the goal needs are mastered" in status
    assert "cost    $1.25" in status, status
    assert "The lesson on Gravity waits for you; then three questions about it." in status
    assert "chiron learn next moon" in status
    unread = json.loads(await run(chiron, "learn", "next", "moon", "--json"))
    assert unread["state"] == "delivering_lesson", "nobody has said that it is read"
    lesson = await run(chiron, "learn", "next", "moon", stdin="\nso\nso\nso\n")
    assert "Gravity is so in case 0." in lesson
    assert "3 answers: 3 right, 0 wrong, 0 doubtful." in lesson
    await work(player)
    assert "nodes   1 of 2 that the goal needs are mastered" in await run(chiron, "learn", "status", "moon")
    await run(chiron, "learn", "next", "moon", stdin="\nso\n")  # left in the midst of the quiz
    assert "moon: exercising" in await run(chiron, "learn", "status", "moon")
    end = await run(chiron, "learn", "next", "moon", stdin="so\nso\n")
    assert "moon: idle (mastered) since" in end
    assert "review  " in end
    view = json.loads(await run(chiron, "learn", "status", "moon", "--json"))
    assert (view["state"], view["event"], len(view["moves"])) == ("idle", "mastered", 13)
    assert [node["title"] for node in view["way"]] == ["Gravity", "Orbit"]


async def test_a_journey_is_stopped_with_what_it_has_under_way_and_goes_on(
    chiron: Command, player: Player, rows: Callable[..., list[dict[str, Any]]]
) -> None:
    await run(chiron, *START)
    stopped = await run(chiron, "learn", "stop", "moon")
    assert "moon: idle (cancelled) since" in stopped
    assert "chiron learn resume moon" in stopped
    assert [row["state"] for row in rows("select state from runs")] == ["cancelled"]
    assert "stands still already" in await run(chiron, "learn", "stop", "moon", code=1)
    assert "moon: initializing" in await run(chiron, "learn", "resume", "moon")
    assert "under way" in await run(chiron, "learn", "resume", "moon", code=1)
    raised = await run(chiron, "learn", "resume", "moon", "--budget-usd", "9", code=1)
    assert "Stopped, its budget can be raised." in raised
    assert "Stop the journey first: `chiron learn stop moon`" in raised
    await work(player)
    assert "delivering lesson" in await run(chiron, "learn", "status")
    actions = {row["action"] for row in rows("select action from audit")}
    assert {"journeys.start", "journeys.stop", "journeys.resume"} <= actions


async def test_a_higher_budget_also_lets_go_on_what_was_paused(
    chiron: Command,
    player: Player,
    setting: Callable[[str, str], None],
    rows: Callable[..., list[dict[str, Any]]],
) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')
    player.pauses = {"research"}
    await run(chiron, *START, "--model", "offline", "--budget-usd", "0.70")
    await work(player)
    status = await run(chiron, "learn", "status", "moon")
    assert "moon: idle (paused) since" in status
    assert "The budget is spent." in status
    assert "has spent its budget of 0.70 USD" in await run(chiron, "learn", "resume", "moon", code=2)
    player.pauses = set()
    assert "moon: researching" in await run(chiron, "learn", "resume", "moon", "--budget-usd", "9")
    [batch] = rows("select budget_usd, spent_usd from batches where run_count = 2")
    assert (
        batch["budget_usd"]
        == batch["spent_usd"] + 9 - rows("select sum(spent_usd) as usd from batches")[0]["usd"]
    )
    await work(player)
    assert "delivering lesson" in await run(chiron, "learn", "status", "moon")


async def test_a_journey_that_found_nothing_says_with_which_command_it_begins_again(
    chiron: Command, player: Player
) -> None:
    player.barren = frozenset({"Orbit", "Gravity"})
    await run(chiron, *START)
    await work(player)
    status = await run(chiron, "learn", "status", "moon")
    assert "moon: idle (nothing found)" in status
    assert "chiron learn start moon --goal 'Understand why the Moon does not fall.' --again" in status


async def test_what_is_not_there_is_said_in_a_sentence(chiron: Command, player: Player, shelf: Shelf) -> None:
    assert "There is no journey yet" in await run(chiron, "learn", "status")
    shelf.subject("sun", "Sun")
    assert "There is no journey through 'sun' yet" in await run(chiron, "learn", "next", "sun", code=1)
    assert "subject" in await run(chiron, "learn", "status", "nowhere", code=1)
    assert "The goal is empty" in await run(chiron, "learn", "start", "moon", "--goal", " ", code=2)
    await run(chiron, *START)
    assert "under way to the goal" in await run(
        chiron, "learn", "start", "moon", "--goal", "Build a rocket.", code=1
    )
    waiting = await run(chiron, "learn", "next", "moon", "--no-wait")
    assert "A run draws the map up" in waiting
