"""Journeys whose map, facts, quizzes and orders change under them: each goes on, and none keeps others waiting."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from learning.test_journeys import GOAL, OPTIONS, journey_of, learn, travel
from psycopg import sql
from support.played_course import Player
from support.research_rows import Shelf

from chiron_api.acts import journeys as acts
from chiron_api.acts.journeys import ResumeRequest
from chiron_api.services import Services
from chiron_api.views.journeys import view_of
from chiron_workers.access.allotments import committed_usd
from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.access.principals import Principal
from chiron_workers.batches.delete import delete
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.coverage.curricula import Entry
from chiron_workers.knowledge.coverage.nodes import Node, Nodes, flatten
from chiron_workers.knowledge.coverage.removal import Removal
from chiron_workers.knowledge.coverage.subjects import DEPTH_CHARS_MAX
from chiron_workers.learning import orchestrator
from chiron_workers.learning.curriculum_orders import Goal
from chiron_workers.learning.journey_orders import spent_usd
from chiron_workers.learning.journeys import Journey, require_journey
from chiron_workers.learning.orchestrator import advance_due
from chiron_workers.learning.starts import JourneyOptions, begin, resume
from chiron_workers.pubsub.streams import Streams
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import AccessScope, JourneyEvent, JourneyState
from chiron_workers.worker.fleet import SharedFleet


@pytest.fixture
def player(pool: Pool, shelf: Shelf) -> Player:
    return Player(pool, shelf)


@pytest.fixture
def services(pool: Pool, embedder: Embedder) -> Services:
    without_redis = settings().model_copy(update={"redis_url": ""})
    return Services(
        without_redis, pool, lambda: embedder, Streams(pool, ""), SharedFleet(pool, without_redis)
    )


async def go_to(pool: Pool, player: Player, state: JourneyState) -> Journey:
    for _ in range(60):
        journey = await journey_of(pool)
        if journey.state is state:
            return journey
        await advance_due(pool)
        await player.play_all()
        if journey.state is JourneyState.DELIVERING_LESSON:
            await learn(pool, journey)
    raise AssertionError(f"the journey does not come to {state}")


async def test_a_review_that_nothing_can_be_asked_in_does_not_move_a_journey_for_ever(
    pool: Pool, player: Player
) -> None:
    await begin(pool, GOAL, OPTIONS)
    await travel(pool, player)
    player.shelf.connection.execute("update review_cards set due_at = now() - interval '1 hour'")
    player.shelf.connection.execute("update facts set status = 'withdrawn'")
    for _ in range(10):
        if not await advance_due(pool):
            break
    else:
        raise AssertionError("it moves for ever")
    assert (await journey_of(pool)).event is JourneyEvent.MASTERED


async def node_of(pool: Pool, title: str) -> Node:
    tops, _ = await Nodes(Session(pool)).tree("moon")
    [node] = [node for node in flatten(tops) if node["title"] == title]
    return node


SIBLINGS = (
    Entry("Orbit", "The path of the Moon.", is_goal_critical=True),
    Entry("Gravity", "What pulls.", is_goal_critical=True),
)


@pytest.mark.parametrize("state", [JourneyState.GENERATING_LESSON, JourneyState.DELIVERING_LESSON])
async def test_a_node_that_is_merged_while_it_is_taught_is_taught_as_the_other_one(
    pool: Pool, player: Player, state: JourneyState
) -> None:
    player.map = SIBLINGS
    await begin(pool, GOAL, OPTIONS)
    await go_to(pool, player, state)
    async with Session(pool) as session:
        await Nodes(session).lock("moon")
        node, into = await node_of(pool, "Orbit"), await node_of(pool, "Gravity")
        if UUID(node["node_id"]) != (await journey_of(pool)).node_id:
            node, into = into, node
        await Removal(session).merge(node, into)
    journey = await travel(pool, player)
    assert journey.event is JourneyEvent.MASTERED, journey.reason


@pytest.mark.parametrize(
    "state", [JourneyState.GENERATING_LESSON, JourneyState.DELIVERING_LESSON, JourneyState.EXERCISING]
)
async def test_a_node_that_is_removed_while_it_is_taught_holds_a_journey_once_at_most(
    pool: Pool, player: Player, state: JourneyState
) -> None:
    await begin(pool, GOAL, OPTIONS)
    await go_to(pool, player, state)
    async with Session(pool) as session:
        await Nodes(session).lock("moon")
        await Removal(session).remove(await node_of(pool, "Gravity"))
    journey = await travel(pool, player)
    if journey.event is not JourneyEvent.MASTERED:
        await resume(pool, "moon")
        journey = await travel(pool, player)
    assert journey.event is JourneyEvent.MASTERED, journey.reason


async def test_a_quiz_of_which_nothing_can_be_asked_any_more_holds_nobody(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    await go_to(pool, player, JourneyState.EXERCISING)
    await advance_due(pool)
    assert (await journey_of(pool)).quiz_id is not None
    player.shelf.connection.execute("update facts set status = 'withdrawn'")
    for _ in range(5):
        await advance_due(pool)
    assert (await journey_of(pool)).state is not JourneyState.EXERCISING


async def open_runs(player: Player) -> int:
    return len(player.rows("select id from runs where state in ('queued', 'running', 'paused')"))


async def test_a_journey_that_a_worker_moves_while_it_is_stopped_is_stopped_all_the_same(
    pool: Pool, player: Player, services: Services
) -> None:
    await begin(pool, GOAL, OPTIONS)
    journey = await go_to(pool, player, JourneyState.INITIALIZING)
    await advance_due(pool)
    await player.play_all()
    for _ in range(3):
        await advance_due(pool)
    assert (await journey_of(pool)).state is JourneyState.RESEARCHING
    stopped = await acts.stop(services, journey.id)
    assert (stopped.state, stopped.event) == (JourneyState.IDLE, JourneyEvent.CANCELLED)
    assert await open_runs(player) == 0


async def test_what_a_worker_orders_while_a_journey_is_stopped_is_cancelled(
    pool: Pool, player: Player, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(pool, GOAL, OPTIONS)
    note_orders = orchestrator.note_orders

    async def stop_and_note(*args: Any, **kwargs: Any) -> bool:
        await acts.stop(services, (await journey_of(pool)).id)
        return await note_orders(*args, **kwargs)

    monkeypatch.setattr(orchestrator, "note_orders", stop_and_note)
    await advance_due(pool)
    assert len(player.rows("select id from runs")) == 1
    assert await open_runs(player) == 0


@pytest.fixture
def prices(setting: Callable[[str, str], None]) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')


@pytest.mark.usefixtures("prices")
async def test_a_worker_that_sees_first_that_what_was_paused_goes_on_takes_no_budget_away(
    pool: Pool, player: Player, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    player.pauses = {"research"}
    await begin(pool, GOAL, JourneyOptions("offline", Decimal(2), 2))
    held = await travel(pool, player)
    steer = acts.steer

    async def steer_and_look(*args: Any) -> Any:
        result = await steer(*args)
        await advance_due(pool)
        return result

    monkeypatch.setattr(acts, "steer", steer_and_look)
    journey = await acts.resume(services, held.id, ResumeRequest(budget_usd=Decimal(9)))
    assert (journey.state, journey.budget_usd) == (JourneyState.RESEARCHING, 9)


@pytest.mark.usefixtures("prices")
async def test_a_run_that_has_met_its_own_budget_goes_on_with_its_journey(
    pool: Pool, player: Player, services: Services
) -> None:
    player.pauses = {"research"}
    await begin(pool, GOAL, JourneyOptions("offline", Decimal(2), 2))
    held = await travel(pool, player)
    error = {"kind": "budget", "message": "Spent.", "budget": "run", "unit": "usd", "limit": "0.25"}
    player.shelf.connection.execute(
        "update runs set budget_usd = 0.25, error = %s where state = 'paused'", (json.dumps(error),)
    )
    journey = await acts.resume(services, held.id, ResumeRequest(budget_usd=Decimal(9)))
    assert journey.state == JourneyState.RESEARCHING
    budgets = player.rows("select budget_usd from runs where state = 'queued'")
    # Two runs share what the journey has left: 9 without the 0.75 that are spent.
    assert [row["budget_usd"] for row in budgets] == [Decimal("4.375")] * 2


@pytest.mark.parametrize("budget_usd", [None, Decimal(9)])
@pytest.mark.usefixtures("prices")
async def test_a_journey_continues_runs_that_used_all_their_turns_and_orders_no_others(
    pool: Pool, player: Player, services: Services, budget_usd: Decimal | None
) -> None:
    player.pauses = {"research"}
    await begin(pool, GOAL, JourneyOptions("offline", Decimal(2), 2))
    held = await travel(pool, player)
    error = {"kind": "max_turns", "message": "The run used all its turns (9)."}
    player.shelf.connection.execute(
        "update runs set state = 'failed', error = %s, finished_at = now() where state = 'paused'",
        (json.dumps(error),),
    )
    player.shelf.connection.execute(
        "update batches set open_runs = 0, finished_at = now() where open_runs > 0"
    )
    batch_count = len(player.rows("select id from batches"))
    journey = await acts.resume(services, held.id, ResumeRequest(budget_usd=budget_usd))
    assert journey.state == JourneyState.RESEARCHING
    assert len(player.rows("select id from runs where state = 'queued'")) == 2
    await advance_due(pool)
    assert len(player.rows("select id from batches")) == batch_count, "nothing is paid for again"


ADA, BOB = (Principal(name, AccessScope.SUBMIT) for name in ("ada", "bob"))


async def test_who_waits_for_the_research_of_another_learner_goes_on_when_that_is_cancelled(
    pool: Pool, player: Player, services: Services
) -> None:
    await begin(pool, GOAL, OPTIONS, principal=ADA)
    while (await journey_of(pool, "ada")).state is not JourneyState.RESEARCHING:
        await advance_due(pool)
        await player.play_all()
    await advance_due(pool)
    await begin(pool, GOAL, OPTIONS, principal=BOB)
    for _ in range(3):
        await advance_due(pool)
    waiting = await journey_of(pool, "bob")
    assert (waiting.state, len(player.rows("select id from batches"))) == (JourneyState.RESEARCHING, 2)
    await acts.stop(services.of(ADA), (await journey_of(pool, "ada")).id)
    journey = await travel(pool, player, "bob")
    assert journey.event is JourneyEvent.MASTERED, journey.reason


async def test_research_that_was_cancelled_counts_nowhere_as_research_without_result(
    pool: Pool, player: Player, services: Services
) -> None:
    await begin(pool, GOAL, OPTIONS)
    for _ in range(3):
        await go_to(pool, player, JourneyState.RESEARCHING)
        await advance_due(pool)
        await acts.stop(services, (await journey_of(pool)).id)
        await resume(pool, "moon")
    journey = await travel(pool, player)
    assert journey.event is JourneyEvent.MASTERED, journey.reason


async def test_what_could_not_be_taught_is_not_said_to_be_mastered(pool: Pool, player: Player) -> None:
    player.map, player.barren = SIBLINGS, frozenset({"Gravity"})
    await begin(pool, GOAL, OPTIONS)
    journey = await travel(pool, player)
    view = await view_of(pool, journey)
    assert [node.is_mastered for node in view.way] == [True, False]
    assert view.next_step.startswith("You know what can be taught; of 1 node of the goal nothing is known.")


async def test_what_a_deleted_batch_has_cost_stays_counted(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS)
    await advance_due(pool)
    await player.play_all()
    [batch] = player.rows("select id from batches")
    await delete(pool, batch["id"])
    assert await spent_usd(Session(pool), await journey_of(pool)) == Decimal("0.25")


async def test_journeys_that_wait_keep_no_other_from_its_turn(pool: Pool, player: Player) -> None:
    await begin(pool, GOAL, OPTIONS, principal=ADA)
    await advance_due(pool)
    await player.play_all()
    await advance_due(pool)
    # Somebody has claimed the nodes, and was killed before a batch came of it.
    async with Session(pool) as session:
        await session.write(
            sql.SQL(
                "insert into node_research (id, subject_id, node_id, owner, round_key, request, facts_before)"
                " select gen_random_uuid(), 'moon', id, 'eve', 'research eve', '{}', 0 from nodes"
            ),
            {},
        )
    for n in range(11):
        await begin(pool, GOAL, OPTIONS, principal=Principal(f"learner{n}", AccessScope.SUBMIT))
    for _ in range(4):
        await advance_due(pool)
    await begin(pool, Goal("sun", "Understand why the Sun shines."), OPTIONS, principal=BOB)
    for _ in range(4):
        await advance_due(pool)
    journey = await require_journey(pool, "bob", "sun")
    assert journey.ordered_at is not None


async def test_the_longest_depth_can_be_ordered(pool: Pool, player: Player) -> None:
    goal = Goal("m" * 60 + "oon", "Understand it.", "d" * DEPTH_CHARS_MAX)
    start = await begin(pool, goal, OPTIONS)
    await advance_due(pool)
    journey = await require_journey(pool, "local", start.journey.subject_id)
    assert journey.state is JourneyState.INITIALIZING, journey.reason


async def test_a_journey_pays_from_the_key_that_began_it_and_stops_with_it(
    pool: Pool, player: Player, setting: Callable[[str, str], None]
) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')
    _, key = await create_key(pool, NewKey("alice", AccessScope.SUBMIT, budget_usd=Decimal(3)))
    options = JourneyOptions(model="offline", budget_usd=Decimal(2))
    await begin(pool, GOAL, options, principal=key.principal)
    await advance_due(pool)
    rows = player.shelf.connection.execute(
        "select act, owner, key_id, sum(amount_usd) from allotments group by 1, 2, 3"
    ).fetchall()
    assert rows == [
        ("submit", "alice", key.id, Decimal(3))
    ]  # a batch that names no budget takes all that is left
    assert await committed_usd(pool, [key.id]) == {key.id: Decimal(3)}
    await player.play_all()
    await revoke_key(pool, "alice")
    while await advance_due(pool):
        await player.play_all()
    journey = await require_journey(pool, "alice", "moon")
    assert (journey.state, journey.event) == (JourneyState.IDLE, JourneyEvent.RUN_FAILED)
    assert journey.reason == "The key 'alice' that began it was revoked or has expired."
