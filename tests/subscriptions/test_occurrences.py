"""What each time of a subscription has brought against the time before, and that nothing is told by silence."""

import asyncio
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from support.backdated_facts import Dated, day
from support.run_harness import Stage

from chiron_workers.batches.summaries import summary
from chiron_workers.runs.leases import say
from chiron_workers.runs.session import Session
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.occurrences import compare_occurrences, last_occurrences, occurrence_of
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscriptions
from chiron_workers.webhooks.webhooks import NewWebhook, Webhooks


@pytest.fixture
async def dated(stage: Stage) -> Dated:
    return await Dated(stage.pool).begin()


async def subscribe(stage: Stage) -> UUID:
    async with Session(stage.pool) as session:
        new = NewSubscription(
            ("sea ice", "permafrost"), "Ice", Recurrence("0 9 * * *", "UTC"), model="offline"
        )
        return (await Subscriptions(session).create(new))[0].id


async def time(stage: Stage, begins: float, *, ends: float | None, **columns: Any) -> UUID:
    """A time of the subscription that began and ended on given days."""
    await stage.rows("update subscriptions set next_at = %s returning 1", day(begins))
    await start_due(stage.pool)
    [batch] = await stage.rows("select id from batches order by due_at desc limit 1")
    await stage.rows("update batches set created_at = %s where id = %s returning 1", day(begins), batch["id"])
    if ends is not None:
        await end(stage, batch["id"], day(ends), **columns)
    found: UUID = batch["id"]
    return found


async def end(stage: Stage, batch_id: UUID, at: datetime, *, state: str = "completed") -> None:
    """As if all runs of a batch had ended with an answer, the first of them perhaps otherwise."""
    await stage.rows(
        "update runs set state = 'completed', answer = 'It melts.', started_at = %s, finished_at = %s, silent = false"
        " where batch_id = %s returning 1", at, at, batch_id,
    )  # fmt: skip
    await stage.rows(
        "update runs set state = %s where id = (select min(id::text)::uuid from runs where batch_id = %s) returning 1",
        state, batch_id,
    )  # fmt: skip
    await stage.rows(
        "update batches set open_runs = 0, finished_at = %s where id = %s returning 1", at, batch_id
    )


async def silent(stage: Stage, batch_id: UUID) -> int:
    return (await summary(stage.pool, batch_id)).silent


async def test_a_time_is_held_against_the_end_of_the_time_before(stage: Stage, dated: Dated) -> None:
    subscription_id = await subscribe(stage)
    first = await time(stage, 10, ends=10.5)
    second = await time(stage, 20, ends=20.5)
    for content, at in (
        ("Long before.", 1),
        ("By the first.", 10.2),
        ("In between.", 15),
        ("By the second.", 20.2),
        ("Later.", 21),
    ):
        await dated.fact(content, at=at)
    latest, earlier = await last_occurrences(Session(stage.pool), subscription_id, limit=5, entries_max=9)
    assert (latest.batch_id, latest.since, earlier.batch_id, earlier.since) == (
        second,
        day(10.5),
        first,
        day(10),
    )
    assert latest.difference and earlier.difference
    assert {fact.content for fact in latest.difference.new} == {"In between.", "By the second."}
    assert {fact.content for fact in earlier.difference.new} == {"By the first."}
    assert await occurrence_of(Session(stage.pool), first, entries_max=9) == earlier
    (run_id,) = await stage.submit("another")
    assert (
        await occurrence_of(Session(stage.pool), (await stage.row(run_id))["batch_id"], entries_max=9) is None
    )


async def test_a_time_that_brought_nothing_is_silent_though_its_runs_have_answered(
    stage: Stage, dated: Dated
) -> None:
    await subscribe(stage)
    await dated.fact("Long before.", at=1)
    await dated.fact("A candidate, out of sight.", at=10.2, status="candidate")
    nothing = await time(stage, 10, ends=10.5)
    assert await compare_occurrences(stage.pool) == [nothing]
    assert await silent(stage, nothing) == 2
    assert await compare_occurrences(stage.pool) == [], "once"
    something = await time(stage, 20, ends=20.5)
    await dated.fact("News.", at=20.2)
    assert await compare_occurrences(stage.pool) == []
    assert await silent(stage, something) == 0


async def test_a_time_that_is_not_finished_is_neither_compared_nor_silent(stage: Stage, dated: Dated) -> None:
    subscription_id = await subscribe(stage)
    batch_id = await time(stage, 10, ends=None)
    assert await compare_occurrences(stage.pool) == []
    [found] = await last_occurrences(Session(stage.pool), subscription_id, limit=5)
    assert (found.batch_id, found.finished_at, found.difference) == (batch_id, None, None)


async def test_a_run_that_failed_is_never_silent(stage: Stage, dated: Dated) -> None:
    await subscribe(stage)
    batch_id = await time(stage, 10, ends=10.5, state="failed")
    await compare_occurrences(stage.pool)
    found = await summary(stage.pool, batch_id)
    assert (found.state, found.silent) == ("failed", 1)


async def test_a_batch_that_was_retried_is_compared_anew(stage: Stage, dated: Dated) -> None:
    await subscribe(stage)
    batch_id = await time(stage, 10, ends=10.5)
    await stage.rows("update batches set compared_at = %s returning 1", day(10.6))
    await dated.fact("News.", at=11)
    await end(stage, batch_id, day(12))
    assert await compare_occurrences(stage.pool) == []
    [row] = await stage.rows("select compared_at from batches")
    assert (row["compared_at"] > day(12), await silent(stage, batch_id)) == (True, 0)


async def test_who_has_written_to_a_run_gets_an_answer_that_is_not_silent(stage: Stage, dated: Dated) -> None:
    await subscribe(stage)
    batch_id = await time(stage, 10, ends=10.5)
    [asked, _] = await stage.rows("select id from runs order by id")
    await say(stage.pool, asked["id"], "And the thickness?")
    await end(stage, batch_id, day(10.6))
    assert await compare_occurrences(stage.pool) == [batch_id]
    rows = await stage.rows("select silent from runs order by id")
    assert [row["silent"] for row in rows] == [False, True]


async def test_workers_that_look_at_once_agree(stage: Stage, dated: Dated) -> None:
    await subscribe(stage)
    batch_id = await time(stage, 10, ends=10.5)
    await asyncio.gather(*(compare_occurrences(stage.pool) for _ in range(4)))
    assert await silent(stage, batch_id) == 2


async def test_news_are_announced_once_to_the_webhooks_of_the_owner(stage: Stage, dated: Dated) -> None:
    async with Session(stage.pool) as session:
        await Webhooks(session).create(NewWebhook("https://example.org/hook"))
    subscription_id = await subscribe(stage)
    quiet = await time(stage, 1, ends=2)
    await compare_occurrences(stage.pool)
    assert await stage.rows("select from deliveries") == []
    await time(stage, 3, ends=5)
    await dated.fact("It shrinks.", at=4)
    await asyncio.gather(*(compare_occurrences(stage.pool) for _ in range(3)))
    [delivery] = await stage.rows("select kind, payload from deliveries")
    data = delivery["payload"]["data"]
    assert (delivery["kind"], data["subscription_id"]) == ("subscription.news", str(subscription_id))
    assert data["counts"]["new"] == 1
    assert data["batch_id"] != str(quiet)
    assert data["link"] == f"/batches/{data['batch_id']}"


async def test_a_list_of_subscriptions_has_the_counts_of_the_last_time_once_it_is_compared(
    stage: Stage, dated: Dated
) -> None:
    subscription_id = await subscribe(stage)
    batch_id = await time(stage, 10, ends=11)
    await dated.fact("Ice melts.", at=10.5)

    async def last() -> tuple[object, ...]:
        async with Session(stage.pool) as session:
            [item] = await Subscriptions(session).newest(limit=10)
        return item.id, item.last_batch_id, item.last_finished_at, (item.last_counts or {}).get("new")

    assert await last() == (subscription_id, batch_id, day(11), None)
    await compare_occurrences(stage.pool)
    assert await last() == (subscription_id, batch_id, day(11), 1)
    await stage.rows("update batches set open_runs = 1, finished_at = null returning 1")
    assert await last() == (subscription_id, batch_id, None, None), "it is tried again"
