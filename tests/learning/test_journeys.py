"""Journeys from a goal to what is mastered: moved by whoever looks, ordered once, held and gone on with."""

import asyncio
import contextlib
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from support.played_course import Player
from support.research_rows import Shelf

from chiron_workers.access.principals import Principal
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.knowledge.coverage.curricula import Entry
from chiron_workers.learning import orchestrator
from chiron_workers.learning.curriculum_orders import Goal
from chiron_workers.learning.journey_orders import spent_usd
from chiron_workers.learning.journey_steps import quizzes_of
from chiron_workers.learning.journeys import Journey, moves_of, require_journey
from chiron_workers.learning.orchestrator import advance, advance_due
from chiron_workers.learning.starts import JourneyOptions, begin, lesson_read, resume, stop
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import AccessScope, JourneyEvent, JourneyState

GOAL = Goal("moon", "Understand why the Moon does not fall.")
OPTIONS = JourneyOptions(model="offline", facts_min=2)
WAY = [
    "started", "mapped", "round_ended", "researched",
    "questions_written", "lesson_written", "lesson_read", "quiz_finished",
    "questions_written", "lesson_written", "lesson_read", "quiz_finished",
    "mastered",
]  # fmt: skip


@pytest.fixture
def player(pool: Pool, shelf: Shelf) -> Player:
    return Player(pool, shelf)


async def journey_of(pool: Pool, learner: str = "local") -> Journey:
    return await require_journey(pool, learner, "moon")


async def answer_all(pool: Pool, journey: Journey, response: str = "so") -> None:
    async with Session(pool, Caller(journey.learner)) as session:
        quizzes = quizzes_of(session)
        quiz = await quizzes.get(journey.quiz_id)
        while quiz.current is not None:
            quiz = await quizzes.answer(quiz.id, quiz.current.id, response)


async def learn(pool: Pool, journey: Journey) -> bool:
    """What a learner does who knows everything; whether there was something to do."""
    if journey.state is JourneyState.DELIVERING_LESSON:
        return await lesson_read(pool, journey)
    if journey.state is JourneyState.EXERCISING and journey.quiz_id is not None:
        await answer_all(pool, journey)
        return True
    return False


async def travel(pool: Pool, player: Player, learner: str = "local") -> Journey:
    """Go on until nothing moves any more."""
    for _ in range(200):
        advances = await advance_due(pool)
        played = await player.play_all()
        learnt = await learn(pool, await journey_of(pool, learner))
        if not (advances or played or learnt):
            return await journey_of(pool, learner)
    raise AssertionError("the journey does not come to an end")


async def events_of(pool: Pool, learner: str = "local") -> list[str]:
    return [
        str(item.event) for item in reversed(await moves_of(Session(pool), await journey_of(pool, learner)))
    ]


async def test_a_journey_goes_from_the_goal_to_what_is_mastered_prerequisites_first(
    pool: Pool, player: Player
) -> None:
    start = await begin(pool, GOAL, OPTIONS)
    assert (start.is_new, start.journey.state) == (True, JourneyState.INITIALIZING)
    journey = await travel(pool, player)
    assert (journey.state, journey.event) == (JourneyState.IDLE, JourneyEvent.MASTERED)
    assert await events_of(pool) == WAY
    lessons = player.rows(
        "select n.title from lessons l join nodes n on n.id = l.node_id order by l.handed_in_at, l.id"
    )
    assert [row["title"] for row in lessons] == ["Gravity", "Orbit"]
    roles = player.rows("select role, count(*) as runs from runs group by role order by role")
    assert {row["role"]: row["runs"] for row in roles} == {
        "assessment": 2, "curriculum": 1, "lesson": 2, "research": 2,
    }  # fmt: skip
    assert await spent_usd(Session(pool), journey) == Decimal("1.75")


async def test_the_same_goal_twice_is_one_journey_and_another_goal_waits_for_its_end(
    pool: Pool, player: Player
) -> None:
    starts = await asyncio.gather(*(begin(pool, GOAL, OPTIONS) for _ in range(4)))
    assert sum(start.is_new for start in starts) == 1
    assert len({start.journey.id for start in starts}) == 1
    with pytest.raises(Conflict, match="is under way"):
        await begin(pool, Goal("moon", "Build a rocket."), OPTIONS)
    await travel(pool, player)
    again = await begin(pool, GOAL, OPTIONS)
    assert again.is_new
    await travel(pool, player)
    assert len(player.rows("select id from runs where role = 'curriculum'")) == 1


async def test_any_number_of_workers_order_each_step_once(pool: Pool, player: Player, shelf: Shelf) -> None:
    await begin(pool, GOAL, OPTIONS)
    for _ in range(60):
        await asyncio.gather(*(advance_due(pool) for _ in range(4)))
        played = await player.play_all()
        learnt = await learn(pool, await journey_of(pool))
        if not played and not learnt and (await journey_of(pool)).event is JourneyEvent.MASTERED:
            break
    assert await events_of(pool) == WAY
    assert len(player.rows("select id from batches")) == 6


class Killed(BaseException):
    """The process is gone, whatever it would have caught."""


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, random.Random], None]:
    """Have a worker end between any two of its writes: before or after a write commits."""

    def arm(share: float, chance: random.Random) -> None:
        for name in ("note_orders", "take_step", "move"):
            original = getattr(orchestrator, name)

            async def cut(*args: Any, original: Any = original, **kwargs: Any) -> Any:
                if chance.random() < share:
                    raise Killed
                result = await original(*args, **kwargs)
                if chance.random() < share:
                    raise Killed
                return result

            monkeypatch.setattr(orchestrator, name, cut)

    return arm


@pytest.mark.parametrize("seed", range(6))
async def test_whoever_is_killed_wherever_the_rows_end_the_same(
    pool: Pool, player: Player, kills: Callable[[float, random.Random], None], seed: int
) -> None:
    """Random orders of looks by several workers, of runs that end, of what the learner does and sends twice, and of kills."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    kills(0.25, chance)
    await begin(pool, GOAL, OPTIONS)

    async def look() -> None:
        with contextlib.suppress(Killed):
            await advance_due(pool)

    async def look_at_old(journey: Journey) -> None:
        """A worker that read the row long ago."""
        with contextlib.suppress(Killed, Conflict):
            await advance(pool, journey)

    async def do() -> None:
        with contextlib.suppress(Conflict):
            await learn(pool, await journey_of(pool))

    seen = [await journey_of(pool)]
    for _ in range(600):
        journey = await journey_of(pool)
        seen.append(journey)
        if journey.event is JourneyEvent.MASTERED:
            break
        steps = [look, look, player.play_all, do, do, lambda: look_at_old(chance.choice(seen))]
        await asyncio.gather(*(chance.choice(steps)() for _ in range(chance.randint(1, 3))))
    assert await events_of(pool) == WAY
    roles = player.rows("select role, count(*) as runs from runs group by role order by role")
    assert {row["role"]: row["runs"] for row in roles} == {
        "assessment": 2, "curriculum": 1, "lesson": 2, "research": 2,
    }  # fmt: skip
    counts = player.rows(
        "select (select count(*) from lessons) as lessons, (select count(*) from assessments) as answers,"
        " (select count(*) from quizzes) as quizzes, (select count(*) from journey_batches) as batches"
    )
    assert counts == [{"lessons": 2, "answers": 6, "quizzes": 2, "batches": 6}]


@pytest.mark.parametrize(
    ("role", "state"),
    [
        ("curriculum", "initializing"), ("research", "researching"),
        ("assessment", "assessing"), ("lesson", "generating_lesson"),
    ],
)  # fmt: skip
async def test_a_failed_run_holds_the_journey_and_it_goes_on_where_it_was(
    pool: Pool, player: Player, role: str, state: str
) -> None:
    player.fails = {role}
    await begin(pool, GOAL, OPTIONS)
    held = await travel(pool, player)
    assert (held.state, held.event, held.held_state) == (JourneyState.IDLE, JourneyEvent.RUN_FAILED, state)
    assert "The model refused." in held.reason
    player.fails = set()
    assert (await begin(pool, GOAL, OPTIONS)).is_new
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED


async def test_a_paused_batch_holds_the_journey_which_goes_on_with_it(pool: Pool, player: Player) -> None:
    player.pauses = {"research"}
    await begin(pool, GOAL, OPTIONS)
    held = await travel(pool, player)
    assert (held.event, held.held_state) == (JourneyEvent.PAUSED, JourneyState.RESEARCHING)
    assert "The budget is spent." in held.reason
    player.pauses = set()
    player.shelf.connection.execute("update runs set state = 'queued', error = null where state = 'paused'")
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED
    assert len(player.rows("select id from runs where role = 'research'")) == 2


async def test_a_journey_stops_at_its_budget_and_goes_on_with_a_higher_one(
    pool: Pool, player: Player, setting: Callable[[str, str], None]
) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')
    await begin(pool, GOAL, JourneyOptions("offline", Decimal("0.60"), 2))
    held = await travel(pool, player)
    assert (held.event, held.held_state) == (JourneyEvent.PAUSED, JourneyState.RESEARCHING)
    assert held.reason == "The journey has spent its budget of 0.60 USD."
    with pytest.raises(UsageError):
        await resume(pool, "moon", budget_usd=Decimal(-1))
    await resume(pool, "moon", budget_usd=Decimal(5))
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED


async def test_without_any_fact_that_the_goal_needs_it_says_so_and_tries_again_on_request(
    pool: Pool, player: Player
) -> None:
    player.barren = frozenset({"Orbit", "Gravity"})
    await begin(pool, GOAL, OPTIONS)
    held = await travel(pool, player)
    assert (held.event, held.held_state) == (JourneyEvent.NOTHING_FOUND, None)
    assert held.reason == "Research has found no fact that the goal needs."
    assert len(player.rows("select id from runs where role = 'research'")) == 4, "two rounds"
    player.barren = frozenset()
    await begin(pool, GOAL, JourneyOptions("offline", facts_min=2, is_fresh=True))
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED


async def test_an_empty_map_has_an_edge(pool: Pool, player: Player) -> None:
    player.map = ()
    await begin(pool, GOAL, OPTIONS)
    held = await travel(pool, player)
    assert held.event is JourneyEvent.NOTHING_FOUND
    assert held.reason == "The map has no node that the goal needs."


async def test_a_stopped_journey_stands_still_and_goes_on_where_it_was(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    while (await journey_of(pool)).state is not JourneyState.DELIVERING_LESSON:
        await advance_due(pool)
        await player.play_all()
    assert await stop(pool, await journey_of(pool))
    assert await advance_due(pool) == []
    assert not await stop(pool, await journey_of(pool))
    journey = await resume(pool, "moon")
    assert journey.state is JourneyState.DELIVERING_LESSON
    with pytest.raises(Conflict, match="under way"):
        await resume(pool, "moon")
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED


async def test_a_lesson_that_is_stale_before_it_is_read_is_written_again(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    while (await journey_of(pool)).state is not JourneyState.DELIVERING_LESSON:
        await advance_due(pool)
        await player.play_all()
    player.shelf.connection.execute(
        "update facts set status = 'withdrawn' where id = (select fact_ids[1] from lesson_sentences limit 1)"
    )
    assert (await advance(pool, await journey_of(pool))).event is JourneyEvent.LESSON_STALE
    while (await journey_of(pool)).state is not JourneyState.DELIVERING_LESSON:
        await advance_due(pool)
        await player.play_all()
    assert len(player.rows("select id from lessons where state = 'handed_in'")) == 2


async def test_who_answers_wrongly_is_taught_the_same_again_and_no_lesson_is_paid_for_twice(
    pool: Pool, player: Player
) -> None:
    await begin(pool, GOAL, OPTIONS)
    for _ in range(40):
        journey = await journey_of(pool)
        if journey.state is JourneyState.EXERCISING and journey.quiz_id:
            await answer_all(pool, journey, "not at all")
            break
        await advance_due(pool)
        await player.play_all()
        if journey.state is JourneyState.DELIVERING_LESSON:
            await lesson_read(pool, journey)
    for _ in range(9):
        await advance_due(pool)
        await player.play_all()
    assert (await journey_of(pool)).state is JourneyState.DELIVERING_LESSON
    assert (await journey_of(pool)).node_id == journey.node_id
    assert len(player.rows("select id from runs where role in ('lesson', 'assessment')")) == 2


async def test_a_due_review_wakes_a_journey_that_has_mastered_everything(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    await travel(pool, player)
    assert await advance_due(pool) == []
    player.shelf.connection.execute("update review_cards set due_at = now() - interval '1 hour'")
    [moved] = await advance_due(pool)
    assert moved.event is JourneyEvent.REVIEW_DUE
    await advance_due(pool)
    await answer_all(pool, await journey_of(pool))
    assert (await travel(pool, player)).event is JourneyEvent.MASTERED


async def test_what_a_pruned_batch_cost_stays_known(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    journey = await travel(pool, player)
    player.shelf.connection.execute("delete from node_research")
    player.shelf.connection.execute("delete from batches")
    assert await spent_usd(Session(pool), journey) == Decimal("1.75")


async def test_two_learners_never_see_each_other(pool: Pool, player: Player) -> None:
    ada, bob = (Principal(name, AccessScope.SUBMIT) for name in ("ada", "bob"))
    await begin(pool, GOAL, OPTIONS, principal=ada)
    await travel(pool, player, "ada")
    await begin(pool, GOAL, OPTIONS, principal=bob)
    for _ in range(20):
        await advance_due(pool)
        await player.play_all()
    journey = await journey_of(pool, "bob")
    assert journey.state is JourneyState.DELIVERING_LESSON, (
        "map, facts, questions and lessons are of the subject"
    )
    assert await spent_usd(Session(pool), journey) == 0
    assert {row["learner"] for row in player.rows("select learner from quizzes")} == {"ada"}
    await travel(pool, player, "bob")
    assert (await events_of(pool, "bob"))[-1] == "mastered"
    assert len(player.rows("select id from lessons")) == 2


def random_map(chance: random.Random) -> tuple[Entry, ...]:
    titles = [f"Node{n}" for n in range(chance.randint(2, 6))]
    entries = []
    for n, title in enumerate(titles):
        needs = tuple(chance.sample(titles[:n], chance.randint(0, min(n, 3))))
        is_critical = n == len(titles) - 1 or chance.random() < 0.4
        parent = "" if is_critical or not n else titles[-1]
        entries.append(Entry(title, f"{title}.", parent, needs, is_critical))
    return tuple(chance.sample(entries, len(entries)))


@pytest.mark.parametrize("seed", range(8))
async def test_no_prerequisite_is_taught_after_what_needs_it(pool: Pool, player: Player, seed: int) -> None:
    print(f"seed {seed}")
    chance = random.Random(seed)
    player.map = random_map(chance)
    player.barren = frozenset(entry.title for entry in player.map if chance.random() < 0.2)
    await begin(pool, GOAL, OPTIONS)
    await travel(pool, player)
    rows = player.rows(
        "select n.title from lessons l join nodes n on n.id = l.node_id order by l.handed_in_at, l.id"
    )
    titles = [row["title"] for row in rows]
    assert len(titles) == len(set(titles))
    needs = {entry.title: entry.prerequisites for entry in player.map}
    for place, title in enumerate(titles):
        assert not set(needs[title]) & set(titles[place:]), f"{title} is taught before what it needs"


async def test_a_node_about_which_nothing_can_be_asked_is_passed_over_until_the_next_start(
    pool: Pool, player: Player
) -> None:
    player.silent = frozenset({"Gravity"})
    await begin(pool, GOAL, OPTIONS)
    journey = await travel(pool, player)
    assert journey.event is JourneyEvent.MASTERED
    assert (await events_of(pool)).count("node_skipped") == 1
    assert len(player.rows("select id from runs where role = 'assessment'")) == 2, "it is paid for once"
    player.silent = frozenset()
    await begin(pool, GOAL, OPTIONS)
    await travel(pool, player)
    titles = player.rows("select n.title from lessons l join nodes n on n.id = l.node_id order by l.id")
    assert [row["title"] for row in titles] == ["Orbit", "Gravity"]


async def test_two_learners_who_begin_at_once_pay_for_each_order_once(pool: Pool, player: Player) -> None:
    learners = [Principal(name, AccessScope.SUBMIT) for name in ("ada", "bob")]
    for learner in learners:
        await begin(pool, GOAL, OPTIONS, principal=learner)
    for _ in range(40):
        journeys = [await journey_of(pool, learner.owner) for learner in learners]
        await asyncio.gather(*(advance(pool, journey) for journey in journeys))
        await asyncio.gather(advance_due(pool), advance_due(pool))
        await player.play_all()
        for journey in [await journey_of(pool, learner.owner) for learner in learners]:
            await learn(pool, journey)
    for learner in learners:
        assert (await events_of(pool, learner.owner))[-1] == "mastered"
    roles = player.rows("select role, count(*) as runs from runs group by role order by role")
    assert {row["role"]: row["runs"] for row in roles} == {
        "assessment": 2, "curriculum": 1, "lesson": 2, "research": 2,
    }  # fmt: skip


async def test_what_another_learner_ordered_and_stopped_is_ordered_anew(pool: Pool, player: Player) -> None:
    ada, bob = (Principal(name, AccessScope.SUBMIT) for name in ("ada", "bob"))
    for learner in (ada, bob):
        await begin(pool, GOAL, OPTIONS, principal=learner)
        await advance(pool, await journey_of(pool, learner.owner))
    assert len(player.rows("select id from runs")) == 1
    with player.shelf.connection.transaction():
        player.shelf.connection.execute("update runs set state = 'cancelled', finished_at = now()")
        player.shelf.connection.execute("update batches set open_runs = 0, finished_at = now()")
    assert (await advance(pool, await journey_of(pool, "ada"))).event is JourneyEvent.CANCELLED
    for _ in range(20):
        await advance_due(pool)
        await player.play_all()
    assert (await journey_of(pool, "bob")).state is JourneyState.DELIVERING_LESSON


async def test_a_start_without_a_budget_lifts_no_bound(
    pool: Pool, player: Player, setting: Callable[[str, str], None]
) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')
    await begin(pool, GOAL, JourneyOptions("offline", Decimal("0.60"), 2))
    await travel(pool, player)
    await begin(pool, GOAL, OPTIONS)
    journey = await travel(pool, player)
    assert (journey.event, journey.budget_usd) == (JourneyEvent.PAUSED, Decimal("0.60"))


async def test_a_journey_that_breaks_holds_no_other_up(
    pool: Pool, player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = await begin(pool, GOAL, OPTIONS)
    other = Principal("bob", AccessScope.SUBMIT)
    await begin(pool, GOAL, OPTIONS, principal=other)
    original = orchestrator.take_step

    async def broken(pool: Pool, journey: Journey) -> Any:
        if journey.id == start.journey.id:
            raise TypeError("a fault")
        return await original(pool, journey)

    monkeypatch.setattr(orchestrator, "take_step", broken)
    for _ in range(20):
        await advance_due(pool)
        await player.play_all()
    held = await journey_of(pool)
    assert (held.event, held.reason) == (
        JourneyEvent.RUN_FAILED,
        "A fault of the program: TypeError. The worker's log has it.",
    )
    assert (await journey_of(pool, "bob")).state is JourneyState.DELIVERING_LESSON
