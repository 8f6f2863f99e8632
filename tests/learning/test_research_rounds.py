"""Research that a map asks for: which nodes come first, never two runs for one, and where it ends."""

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest
from support.research_rows import Shelf

from chiron_workers.access.principals import Principal
from chiron_workers.batches.submit import submit
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.coverage.curricula import Curricula, Entry
from chiron_workers.learning import research_rounds
from chiron_workers.learning.needs import load_needs
from chiron_workers.learning.research_rounds import ResearchRound, RoundOptions, RoundState, research_round
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import AccessScope

ORBITS = (
    Entry("Moon", "All.", is_goal_critical=True, prerequisites=("Orbit",)),
    Entry("Myths", "What is told of it.", parent="Moon"),
    Entry("Orbit", "Its path.", parent="Moon", prerequisites=("Gravity",)),
    Entry("Gravity", "What pulls.", parent="Moon"),
)
OPTIONS = RoundOptions(facts_min=2, model="offline")


@pytest.fixture
async def moon(pool: Pool, shelf: Shelf) -> None:
    async with Session(pool) as session:
        await Curricula(session).save("moon", ORBITS)


async def play_round(pool: Pool, options: RoundOptions = OPTIONS) -> ResearchRound:
    return await research_round(pool, "moon", options)


def store(shelf: Shelf, title: str, *, origins: int = 2) -> None:
    for n in range(origins):
        shelf.fact("moon", f"{title} is so, {n}.", f"https://site{n}.example/{title}", path=f"moon/{title}")


async def end_runs(pool: Pool, state: str = "completed") -> None:
    async with pool.connection() as connection:
        await connection.execute("update runs set state = %s, finished_at = now()", [state])


async def open_nodes(pool: Pool) -> list[str]:
    rows = await Session(pool).rows(
        "select n.title from node_research r join nodes n on n.id = r.node_id where settled_at is null order by r.id"
    )
    return [row["title"] for row in rows]


async def test_what_the_goal_needs_comes_first_and_after_what_it_needs(pool: Pool, moon: None) -> None:
    outcome = await play_round(pool)
    assert outcome.state is RoundState.SUBMITTED
    assert outcome.topics == ("Gravity", "Orbit", "Moon", "Myths")
    assert outcome.gaps == ("Gravity", "Orbit", "Moon")
    [batch] = outcome.batches
    topics = [row["topic"] for row in await Session(pool).rows("select topic from runs order by id")]
    assert (topics, len(batch.run_ids)) == (list(outcome.topics), 4)


async def test_no_node_has_two_open_runs_and_a_round_keeps_to_its_limit(pool: Pool, moon: None) -> None:
    options = RoundOptions(facts_min=2, topics_max=2, model="offline")
    outcomes = await asyncio.gather(*(play_round(pool, options) for _ in range(4)))
    assert await open_nodes(pool) == ["Gravity", "Orbit"]
    assert len({batch.batch_id for outcome in outcomes for batch in outcome.batches}) == 1
    assert [row["n"] for row in await Session(pool).rows("select count(*) as n from runs")] == [2]
    assert (await play_round(pool, options)).state is RoundState.RUNNING


async def test_it_ends_once_the_goal_is_covered_from_two_origins(
    pool: Pool, shelf: Shelf, moon: None
) -> None:
    await play_round(pool)
    for title in ("Gravity", "Orbit"):
        store(shelf, title)
    shelf.fact("moon", "The Moon is round.", "https://site0.example/a", path="moon")
    shelf.fact("moon", "The Moon is grey.", "https://site0.example/b", path="moon")
    await end_runs(pool)
    outcome = await play_round(pool)
    assert (outcome.state, outcome.topics) == (
        RoundState.SUBMITTED,
        ("Moon", "Myths"),
    )  # one origin is not enough
    store(shelf, "moon")
    await end_runs(pool)
    outcome = await play_round(pool)
    assert (outcome.state, outcome.gaps) == (RoundState.COVERED, ())
    assert await open_nodes(pool) == []


@pytest.mark.parametrize("state", ["completed", "failed"])
async def test_a_node_that_gains_nothing_twice_is_exhausted_and_said(
    pool: Pool, shelf: Shelf, moon: None, state: str
) -> None:
    for year in ("2024", "2025"):
        assert (await play_round(pool)).state is RoundState.SUBMITTED
        shelf.fact("moon", f"It was so in {year}.", "https://site.example/", path="moon/orbit")
        await end_runs(pool, state)
    outcome = await play_round(pool)
    assert outcome.exhausted == ("Gravity", "Moon", "Myths")
    assert outcome.topics == ("Orbit",)
    await end_runs(pool, state)
    await play_round(pool)
    await end_runs(pool, state)
    outcome = await play_round(pool)
    assert (outcome.state, outcome.gaps) == (RoundState.EXHAUSTED, ("Gravity", "Orbit", "Moon"))
    again = await play_round(pool, RoundOptions(facts_min=2, model="offline", revives=True))
    assert (again.state, again.exhausted) == (RoundState.SUBMITTED, ())


async def test_a_round_that_was_killed_before_its_batch_is_submitted_by_the_next(
    pool: Pool, moon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die_before(*_: object, **__: object) -> None:
        raise asyncio.CancelledError

    async def die_after(*arguments: Any, **options: Any) -> None:
        await submit(*arguments, **options)
        raise asyncio.CancelledError

    for die in (die_before, die_after, die_before):
        with monkeypatch.context() as patch, pytest.raises(asyncio.CancelledError):
            patch.setattr(research_rounds, "submit", die)
            await play_round(pool)
    outcome = await play_round(pool)
    assert outcome.state is RoundState.SUBMITTED
    [row] = await Session(pool).rows("select count(*) as runs, count(distinct batch_id) as batches from runs")
    assert (row["runs"], row["batches"]) == (4, 1)
    rows = await Session(pool).rows("select run_id from node_research")
    assert {row["run_id"] for row in rows} == {*outcome.batches[0].run_ids}


async def test_a_batch_that_was_submitted_long_ago_is_found_by_its_key(
    pool: Pool, moon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die_after(*arguments: Any, **options: Any) -> None:
        await submit(*arguments, **options)
        raise asyncio.CancelledError

    with monkeypatch.context() as patch, pytest.raises(asyncio.CancelledError):
        patch.setattr(research_rounds, "submit", die_after)
        await play_round(pool)
    async with pool.connection() as connection:
        await connection.execute("update node_research set claimed_until = now() - interval '2 hours'")
    await play_round(pool)
    assert [row["n"] for row in await Session(pool).rows("select count(*) as n from runs")] == [4]
    assert await open_nodes(pool) == ["Gravity", "Orbit", "Moon", "Myths"]


ALICE, BOB = Principal("alice", AccessScope.SUBMIT), Principal("bob", AccessScope.SUBMIT)


async def expire_claims(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("update node_research set claimed_until = now() - interval '1 second'")


async def test_nodes_of_a_round_that_was_killed_are_free_for_others_after_one_lease(
    pool: Pool, moon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch, pytest.raises(asyncio.CancelledError):
        patch.setattr(research_rounds, "submit", die)
        await research_round(pool, "moon", OPTIONS, principal=ALICE)
    waiting = await research_round(pool, "moon", OPTIONS, principal=BOB)
    assert (waiting.state, waiting.batches) == (RoundState.RUNNING, ())
    [claim] = await Session(pool).rows(
        "select max(claimed_until) <= now() + %(lease)s as is_of_a_lease from node_research",
        {"lease": timedelta(seconds=settings().lease_s)},
    )
    assert claim["is_of_a_lease"]
    await expire_claims(pool)
    assert (await research_round(pool, "moon", OPTIONS, principal=BOB)).state is RoundState.SUBMITTED


async def test_a_process_that_stood_still_for_a_lease_submits_no_second_run_of_a_node(
    pool: Pool, moon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = research_rounds._submit_claims

    async def stand_still(*arguments: Any) -> Any:
        monkeypatch.setattr(research_rounds, "_submit_claims", original)
        rows = await Session(pool).rows("select * from node_research")
        assert len(rows) == 4
        await expire_claims(pool)
        assert (await research_round(pool, "moon", OPTIONS, principal=BOB)).state is RoundState.SUBMITTED
        return await original(*arguments)

    monkeypatch.setattr(research_rounds, "_submit_claims", stand_still)
    outcome = await research_round(pool, "moon", OPTIONS, principal=ALICE)
    assert outcome.batches == ()
    [row] = await Session(pool).rows("select count(*) as runs from runs")
    assert row["runs"] == 4


async def test_a_claim_of_the_version_before_lasts_an_hour(
    pool: Pool, moon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as patch, pytest.raises(asyncio.CancelledError):
        patch.setattr(research_rounds, "submit", die)
        await research_round(pool, "moon", OPTIONS, principal=ALICE)
    for minutes, state in ((50, RoundState.RUNNING), (70, RoundState.SUBMITTED)):
        async with pool.connection() as connection:
            await connection.execute(
                "update node_research set claimed_until = null, created_at = now() - %s",
                [timedelta(minutes=minutes)],
            )
        assert (await research_round(pool, "moon", OPTIONS, principal=BOB)).state is state


async def test_a_node_whose_run_was_deleted_is_researched_by_a_new_one(pool: Pool, moon: None) -> None:
    first = await play_round(pool)
    async with pool.connection() as connection:
        await connection.execute("delete from runs")
    assert await open_nodes(pool) == ["Gravity", "Orbit", "Moon", "Myths"]
    second = await play_round(pool)
    assert second.state is RoundState.SUBMITTED
    assert second.batches[0].batch_id != first.batches[0].batch_id


async def test_a_round_that_is_refused_claims_nothing(pool: Pool, moon: None) -> None:
    with pytest.raises(UsageError, match="price"):
        await play_round(pool, RoundOptions(facts_min=2, model="nobody-knows-this"))
    assert await open_nodes(pool) == []
    assert (await play_round(pool)).state is RoundState.SUBMITTED


async def test_nobody_asks_for_more_facts_than_a_node_can_need(pool: Pool, moon: None) -> None:
    with pytest.raises(UsageError, match=r"between 1 and 1,000 facts \(got 1,001\)"):
        await play_round(pool, RoundOptions(facts_min=1_001, model="offline"))
    assert await open_nodes(pool) == []


async def test_without_a_map_there_is_nothing_to_research(pool: Pool, shelf: Shelf) -> None:
    shelf.subject("moon")
    assert (await play_round(pool)).state is RoundState.UNMAPPED


async def test_over_random_maps_no_node_comes_before_what_it_needs(pool: Pool, chance: random.Random) -> None:
    for n in range(20):
        titles = [f"Node {i}" for i in range(chance.randint(2, 12))]
        needs = {
            title: chance.sample(titles[:i], k=min(i, chance.randint(0, 3))) for i, title in enumerate(titles)
        }
        entries = [
            Entry(
                title,
                "x",
                parent=titles[0] if i else "",
                prerequisites=tuple(needs[title]),
                is_goal_critical=i == 0 or chance.random() < 0.3,
            )
            for i, title in enumerate(titles)
        ]
        chance.shuffle(entries)
        async with Session(pool) as session:
            await Curricula(session).save(f"subject-{n}", entries)
        order = await load_needs(Session(pool), f"subject-{n}")
        places = {need.node["title"]: place for place, need in enumerate(order)}
        assert all(places[other] < places[title] for title in titles for other in needs[title])
        way = [need.is_on_the_way for need in order]
        assert way == sorted(way, reverse=True)
