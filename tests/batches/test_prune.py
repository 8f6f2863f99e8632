"""Pruning drops the journals of whole months, and never what is not finished."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest
from support.backdated_runs import age, forget_the_oldest, insert_side_reply, journal_rows
from support.committed_events import tail
from support.databases import Databases
from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn

from chiron_workers.batches import prune as retention
from chiron_workers.batches.prune import Month, prune
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.knowledge.facts.claims import claim
from chiron_workers.runs.events import heads
from chiron_workers.runs.leases import say
from chiron_workers.runs.partitions import Partition
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import Outcome
from chiron_workers.store import Store

QUARTER = timedelta(days=90)
LONG_AGO = 200  # days
CLEAR = "truncate batches, runs, subjects, facts, entries, tool_results, events, inbox, side_replies restart identity cascade"


def month_of(days: int) -> str:
    return Partition.of_month(datetime.now(UTC) - timedelta(days=days)).name


@pytest.fixture(scope="module")
def old_url(databases: Databases) -> Iterator[str]:
    """A database that has months only. To copy one takes longer than any of these tests."""

    async def make_old(url: str) -> None:
        async with open_pool(url, size=1) as pool:
            await forget_the_oldest(pool)

    with databases.lend_copy() as url:
        asyncio.run(make_old(url))
        yield url


@pytest.fixture
def database_url(old_url: str) -> Iterator[str]:
    yield old_url
    with psycopg.connect(old_url, autocommit=True) as connection:
        connection.execute(CLEAR)


@pytest.fixture
async def old_stage(stage: Stage) -> Stage:
    """A stage in a database that has months only."""
    await stage.model(
        lambda request: [calls(call("note", words="one")), says("All done."), says("More.")][turn(request)]
    )
    return stage


async def finished(stage: Stage, *, days: int) -> UUID:
    """A run that was completed so many days ago."""
    [run_id] = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    return await age(stage.pool, run_id, days=days)


async def waiting(stage: Stage, *, days: int) -> UUID:
    [run_id] = await stage.submit("tides")
    return await age(stage.pool, run_id, days=days)


def of(months: list[Month], name: str) -> Month:
    [found] = [month for month in months if month.name == name]
    return found


async def test_a_month_whose_runs_are_finished_is_dropped_and_what_was_found_stays(old_stage: Stage) -> None:
    stage = old_stage
    old, new = await finished(stage, days=LONG_AGO), await finished(stage, days=0)
    before = {run_id: await journal_rows(stage.pool, run_id) for run_id in (old, new)}
    assert before[old] == before[new] == {"entries": 4, "tool_results": 1, "events": 9}
    async with Store(Session(stage.pool, Caller(run_id=old)), stage.embedder) as store:
        await store.facts.add(
            claim(
                subject_id="physics",
                content="Ice floats.",
                source_url="https://example.org",
                source_score=0.9,
                topic_path="ice",
                confidence=0.9,
            )
        )
    month = of(await prune(stage.pool, older_than=QUARTER), month_of(LONG_AGO))
    assert (month.runs, month.kept) == (1, "")
    assert month.bytes > 0
    assert await journal_rows(stage.pool, old) == {"entries": 0, "tool_results": 0, "events": 0}
    assert await journal_rows(stage.pool, new) == before[new]
    shown = await run_summary(stage.pool, old)
    assert (shown.answer, shown.turns, shown.pruned_at is not None) == ("All done.", 2, True)
    assert (await summary(stage.pool, shown.batch_id)).pruned == 1
    assert (await run_summary(stage.pool, new)).pruned_at is None
    assert [row["run_id"] for row in await stage.rows("select run_id from facts")] == [old]
    assert await stage.rows("select run_id, how from run_facts") == [{"run_id": old, "how": "stored"}]
    tables = [f"{parent}_{month_of(LONG_AGO)}" for parent in ("entries", "tool_results", "events")]
    assert await stage.rows("select 1 from pg_class where relname = any(%s)", tables) == []


async def test_a_dry_run_says_the_same_and_changes_nothing(old_stage: Stage) -> None:
    stage = old_stage
    old = await finished(stage, days=LONG_AGO)
    would = await prune(stage.pool, older_than=QUARTER, dry_run=True)
    assert sum((await journal_rows(stage.pool, old)).values()) > 0
    assert (await run_summary(stage.pool, old)).pruned_at is None
    assert await prune(stage.pool, older_than=QUARTER) == would


async def test_a_month_goes_only_when_all_of_it_is_old_enough(old_stage: Stage) -> None:
    stage = old_stage
    old = await finished(stage, days=LONG_AGO)
    ended = datetime.now(UTC) - Partition.named(month_of(LONG_AGO)).ends
    assert of(await prune(stage.pool, older_than=ended + timedelta(minutes=1)), month_of(LONG_AGO)).kept == (
        "is not old enough"
    )
    assert sum((await journal_rows(stage.pool, old)).values()) > 0
    assert not of(await prune(stage.pool, older_than=ended - timedelta(minutes=1)), month_of(LONG_AGO)).kept
    with pytest.raises(UsageError, match="at least a day"):
        await prune(stage.pool, older_than=timedelta(hours=23))


@pytest.mark.parametrize("state", ["queued", "running", "paused"])
async def test_a_month_with_an_unfinished_run_stays_whole(old_stage: Stage, state: str) -> None:
    stage = old_stage
    old, still_open = await finished(stage, days=LONG_AGO), await waiting(stage, days=LONG_AGO)
    if state == "running":
        await stage.claim(still_open)
    elif state == "paused":
        await pause(stage.pool, still_open)
    month = of(await prune(stage.pool, older_than=QUARTER), month_of(LONG_AGO))
    assert month.kept == f"has runs that are not finished (1 {state})"
    assert sum((await journal_rows(stage.pool, old)).values()) > 0
    assert (await run_summary(stage.pool, old)).pruned_at is None


async def test_a_pruned_run_cannot_go_on_and_says_why(old_stage: Stage) -> None:
    stage = old_stage
    done, stopped = await finished(stage, days=LONG_AGO), await waiting(stage, days=LONG_AGO)
    await cancel(stage.pool, stopped)
    await prune(stage.pool, older_than=QUARTER)
    with pytest.raises(Conflict, match="was pruned: its journal is gone"):
        await say(stage.pool, done, "And then?")
    for command in (retry, resume):
        with pytest.raises(Conflict, match=r"has no journal left to go on from \(1 cancelled and pruned\)"):
            await command(stage.pool, stopped)
    assert (await stage.row(stopped))["state"] == "cancelled"
    assert (await stage.rows("select sum(open_runs) as open from batches"))[0]["open"] == 0


async def test_watching_what_was_pruned_ends_at_once(old_stage: Stage) -> None:
    stage = old_stage
    done = await finished(stage, days=LONG_AGO)
    await prune(stage.pool, older_than=QUARTER)
    batch_id = (await stage.row(done))["batch_id"]
    for wanted in ({"run_id": done}, {"batch_id": batch_id}):
        async with (
            asyncio.timeout(60),
            aclosing(tail(stage.pool, stage.settings.redis_url, **wanted)) as events,
        ):
            assert [event async for event in events] == []


async def test_of_a_pruned_run_no_events_are_missing_in_a_batch_that_goes_on(old_stage: Stage) -> None:
    stage = old_stage
    first, second = await stage.submit("tides", "moons")
    await stage.play(first)
    first = await age(stage.pool, first, days=LONG_AGO)
    await prune(stage.pool, older_than=QUARTER)
    head = await heads(stage.pool, batch_id=(await stage.row(second))["batch_id"])
    assert (head.seqs, head.is_over) == ({first: 0, second: 1}, False)


async def test_a_retry_that_comes_first_keeps_the_month(
    old_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = old_stage
    monkeypatch.setattr(retention, "PAUSE_S", 0.01)
    stopped = await waiting(stage, days=LONG_AGO)
    await cancel(stage.pool, stopped)
    # A reader holds the prune up after it has marked the runs.
    async with stage.pool.connection() as reader, reader.transaction():
        await reader.execute("select count(*) from events")
        pruning = asyncio.create_task(prune(stage.pool, older_than=QUARTER))
        await _until(
            stage,
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and position('drop table' in query) > 0",
        )
        steered = await retry(stage.pool, stopped)
    assert steered.changed == 1
    assert of(await pruning, month_of(LONG_AGO)).kept == "has runs that are not finished (1 queued)"
    assert await stage.play(stopped) is Outcome.PLAYED
    assert (await stage.kinds(stopped))[-1] == "batch.completed"


async def test_a_run_that_goes_on_and_ends_while_others_are_marked_keeps_the_month(
    old_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = old_stage
    monkeypatch.setattr(retention, "TRIES_S", (1.5, 30))
    first, second = [await waiting(stage, days=LONG_AGO) for _ in range(2)]
    for run_id in (first, second):
        await cancel(stage.pool, run_id)
    marking = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like %s"
    async with stage.pool.connection() as holder, holder.transaction():  # holds the marking up
        await holder.execute("select 1 from runs where id = %s for update", (first,))
        pruning = asyncio.create_task(prune(stage.pool, older_than=QUARTER))
        await _until(stage, marking, "%set pruned_at%")
        await retry(stage.pool, second)
        await _until(stage, f"select 1 where not exists ({marking})", "%set pruned_at%")
        await _until(stage, marking, "%set pruned_at%")
        await cancel(stage.pool, second)
    month = of(await pruning, month_of(LONG_AGO))
    assert month.kept == "has runs that went on meanwhile; prune again later"
    assert (await stage.kinds(second))[-2:] == ["run.cancelled", "batch.completed"]
    assert not of(await prune(stage.pool, older_than=QUARTER), month_of(LONG_AGO)).kept
    assert (await run_summary(stage.pool, second)).pruned_at is not None


async def test_two_prunes_at_once_do_not_stumble_over_each_other(old_stage: Stage) -> None:
    stage = old_stage
    old = await finished(stage, days=LONG_AGO)
    both = await asyncio.gather(*(prune(stage.pool, older_than=QUARTER) for _ in range(2)))
    # The slower one may see no more of the month.
    assert {month.kept for months in both for month in months if month.name == month_of(LONG_AGO)} == {""}
    assert (await run_summary(stage.pool, old)).pruned_at is not None


async def test_a_prune_that_somebody_reads_against_gives_up_and_says_so(
    old_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = old_stage
    monkeypatch.setattr(retention, "PAUSE_S", 0.01)
    monkeypatch.setattr(retention, "TRIES_S", (0.1, 0.2))
    old = await finished(stage, days=LONG_AGO)
    async with stage.pool.connection() as reader, reader.transaction():
        await reader.execute("select count(*) from entries")
        month = of(await prune(stage.pool, older_than=QUARTER), month_of(LONG_AGO))
        assert month.kept.startswith("is being read by somebody")
        [new] = await stage.submit("moons")
        assert await stage.play(new) is Outcome.PLAYED  # nobody is held up by it afterwards
    assert (await run_summary(stage.pool, old)).pruned_at is None
    assert not of(await prune(stage.pool, older_than=QUARTER), month_of(LONG_AGO)).kept


@pytest.mark.parametrize("go_on", ["say", "retry", "retry from scratch"])
async def test_who_lets_a_run_go_on_waits_for_the_prune_that_has_it_and_neither_is_ended_as_a_deadlock(
    old_stage: Stage, monkeypatch: pytest.MonkeyPatch, go_on: str
) -> None:
    stage = old_stage
    monkeypatch.setattr(retention, "TRIES_S", (60,))
    old = await finished(stage, days=LONG_AGO)
    if go_on == "retry":
        await stage.rows("update runs set state = 'failed' where id = %s returning 1", old)
    revival = {
        "say": lambda: say(stage.pool, old, "And then?"),
        "retry": lambda: retry(stage.pool, old),
        "retry from scratch": lambda: retry(stage.pool, old, from_scratch=True),
    }[go_on]
    waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with stage.pool.connection() as reader, reader.transaction():  # holds the prune up at its tables
        await reader.execute("select count(*) from entries")
        pruning = asyncio.create_task(prune(stage.pool, older_than=QUARTER))
        await _until(stage, f"{waits} and position('drop table' in query) > 0")
        reviving = asyncio.create_task(revival())
        await _until(stage, f"{waits} having count(*) = 2")
    assert not of(await pruning, month_of(LONG_AGO)).kept
    with pytest.raises(Conflict, match="pruned"):
        await reviving


async def test_messages_and_answers_of_a_pruned_run_go_with_its_journal(old_stage: Stage) -> None:
    stage = old_stage
    old = await finished(stage, days=0)
    await say(stage.pool, old, "And then?")
    assert await stage.play(old) is Outcome.PLAYED
    await insert_side_reply(stage.pool, old)
    old = await age(stage.pool, old, days=LONG_AGO)
    for table in ("inbox", "side_replies"):
        assert len(await stage.rows(f"select 1 from {table} where run_id = %s", old)) == 1  # noqa: S608
    await prune(stage.pool, older_than=QUARTER)
    assert await stage.rows("select run_id from inbox union all select run_id from side_replies") == []


async def _until(stage: Stage, query: str, *args: str) -> None:
    async with asyncio.timeout(60):
        while not await stage.rows(query, *args):
            await asyncio.sleep(0.01)
