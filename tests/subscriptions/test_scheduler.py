"""What is due: rows are moved into the past, clocks never."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from psycopg.rows import DictRow
from support.run_harness import Stage

from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NewBatch, Submitted, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import AccessScope
from chiron_workers.subscriptions import scheduler as due_times
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.scheduler import DueOccurrence, start_due, start_now
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscriptions

# Half a day from now, so that no time comes while a test looks.
DAILY = Recurrence(f"0 {(datetime.now(ZoneInfo('Europe/Berlin')).hour + 12) % 24} * * *", "Europe/Berlin")


async def subscribe(pool: Pool, *topics: str, recurrence: Recurrence = DAILY, **more: Any) -> UUID:
    async with Session(pool) as session:
        new = NewSubscription(topics or ("sea ice",), "The Arctic", recurrence, model="offline", **more)
        return (await Subscriptions(session).create(new))[0].id


async def make_due(stage: Stage, *, hours_ago: float = 1) -> datetime:
    """As if the time of all subscriptions had come so many hours ago."""
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=hours_ago)
    await stage.rows("update subscriptions set next_at = %s where state = 'active' returning 1", at)
    return at


async def subscription(stage: Stage) -> DictRow:
    return (await stage.rows("select * from subscriptions"))[0]


async def end_all(stage: Stage, **columns: str) -> None:
    """As if all runs had completed with an answer."""
    values = {"state": "completed", "answer": "It melts.", **columns}
    await stage.rows(
        "update runs set state = %s, answer = %s, started_at = coalesce(started_at, now()), finished_at = now() returning 1",
        values["state"], values["answer"],
    )  # fmt: skip
    await stage.rows("update batches set open_runs = 0, finished_at = now() returning 1")


async def test_a_due_time_starts_one_batch_and_says_when_it_is_due_next(stage: Stage) -> None:
    subscription_id = await subscribe(stage.pool, "sea ice", "permafrost")
    assert await start_due(stage.pool) == []
    due_at = await make_due(stage)
    assert await start_due(stage.pool) == [DueOccurrence(subscription_id, due_at, "started")]
    assert await start_due(stage.pool) == []
    [batch] = await stage.rows("select * from batches")
    assert (batch["subscription_id"], batch["due_at"], batch["run_count"]) == (subscription_id, due_at, 2)
    runs = await stage.rows("select * from runs order by id")
    assert [run["topic"] for run in runs] == ["sea ice", "permafrost"]
    assert {run["subscription_id"] for run in runs} == {subscription_id}
    row = await subscription(stage)
    assert row["next_at"] == DAILY.next_after(datetime.now(UTC))
    assert (row["last_due_at"], row["times"], row["state"]) == (due_at, 1, "active")


async def test_workers_that_look_at_once_start_it_once(stage: Stage) -> None:
    await subscribe(stage.pool)
    await make_due(stage)
    found = await asyncio.gather(*(start_due(stage.pool) for _ in range(2)))
    assert sum(map(len, found)) == 1
    assert len(await stage.rows("select 1 from batches")) == 1


async def test_times_that_were_missed_for_days_come_once(stage: Stage) -> None:
    await subscribe(stage.pool)
    await make_due(stage, hours_ago=24 * 9)
    assert len(await start_due(stage.pool)) == 1
    await end_all(stage)
    assert await start_due(stage.pool) == []
    row = await subscription(stage)
    assert (row["times"], row["next_at"]) == (1, DAILY.next_after(datetime.now(UTC)))


async def test_a_worker_that_dies_after_its_submit_leaves_nothing_to_start_twice(stage: Stage) -> None:
    await subscribe(stage.pool)
    due_at = await make_due(stage)
    await start_due(stage.pool)
    before = await subscription(stage)
    await stage.rows(
        "update subscriptions set next_at = last_due_at, last_due_at = null, times = 0 returning 1"
    )
    [again] = await start_due(stage.pool)
    assert (again.outcome, again.due_at) == ("started", due_at)
    assert len(await stage.rows("select 1 from batches")) == 1
    assert await subscription(stage) == before


async def test_a_worker_with_other_settings_goes_on_where_one_died(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await subscribe(stage.pool)
    await make_due(stage)
    await start_due(stage.pool)
    await stage.rows("update subscriptions set next_at = last_due_at, last_due_at = null returning 1")
    await stage.rows("update batches set request_hash = 'of other settings' returning 1")
    assert [found.outcome for found in await start_due(stage.pool)] == ["started"]
    assert len(await stage.rows("select 1 from batches")) == 1


async def test_a_time_is_passed_over_while_the_batch_before_is_not_finished_and_says_so(stage: Stage) -> None:
    await subscribe(stage.pool)
    await make_due(stage, hours_ago=30)
    await start_due(stage.pool)
    [batch] = await stage.rows("select id from batches")
    await make_due(stage)
    [skipped] = await start_due(stage.pool)
    assert skipped.outcome == "skipped"
    row = await subscription(stage)
    assert f"was passed over, since batch {batch['id']} of the time before is not finished" in row["reason"]
    assert (row["times"], row["times_skipped"], row["next_at"] > datetime.now(UTC)) == (1, 1, True)
    await end_all(stage)
    await make_due(stage)
    assert [found.outcome for found in await start_due(stage.pool)] == ["started"]
    assert (await subscription(stage))["reason"] == ""


async def test_the_last_batch_is_that_of_the_latest_time_whatever_the_clock_of_its_worker_said(
    stage: Stage,
) -> None:
    subscription_id = await subscribe(stage.pool)
    for hours_ago in (50, 26):
        await make_due(stage, hours_ago=hours_ago)
        await start_due(stage.pool)
        await end_all(stage)
    first, _ = await stage.rows("select id from batches order by id")
    await stage.rows(
        "update batches set due_at = due_at + interval '30 hours', open_runs = 1 where id = %s returning 1",
        first["id"],
    )
    async with Session(stage.pool) as session:
        assert (await Subscriptions(session).get(subscription_id)).last_batch_id == first["id"]
        assert (await Subscriptions(session).newest(limit=1))[0].last_batch_id == first["id"]
    await make_due(stage)
    assert [found.outcome for found in await start_due(stage.pool)] == ["skipped"]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ("update subscriptions set cron = '0 25 * * *' returning 1", "cannot be read (Bad hour)"),
        ("delete from subjects returning 1", "The subject the-arctic is gone"),
    ],
)
async def test_what_can_no_longer_be_started_is_paused_with_the_reason_and_left_alone(
    stage: Stage, spoil: str, reason: str
) -> None:
    await subscribe(stage.pool)
    await make_due(stage)
    await stage.rows(spoil)
    assert [found.outcome for found in await start_due(stage.pool)] == ["paused"]
    assert await start_due(stage.pool) == []
    row = await subscription(stage)
    assert (row["state"], row["next_at"], row["times"]) == ("paused", None, 0)
    assert reason in row["reason"]
    assert await stage.rows("select 1 from batches") == []


async def test_one_that_is_broken_holds_up_no_other(stage: Stage) -> None:
    await subscribe(stage.pool, "broken")
    await subscribe(stage.pool, "sound")
    await make_due(stage)
    await stage.rows("update subscriptions set cron = 'x' where topics = '{broken}' returning 1")
    assert sorted(found.outcome for found in await start_due(stage.pool)) == ["paused", "started"]


async def test_after_its_last_time_it_has_ended(stage: Stage) -> None:
    await subscribe(stage.pool, ends_at=datetime.now(UTC) + timedelta(days=2))
    await make_due(stage)
    await stage.rows("update subscriptions set ends_at = now() + interval '1 minute' returning 1")
    assert [found.outcome for found in await start_due(stage.pool)] == ["started"]
    row = await subscription(stage)
    assert (row["state"], row["next_at"]) == ("ended", None)


async def test_each_topic_is_told_when_it_was_looked_into_and_what_was_found_last(stage: Stage) -> None:
    await subscribe(stage.pool, "sea ice", "permafrost")
    await make_due(stage, hours_ago=50)
    await start_due(stage.pool)
    assert await stage.rows("select 1 from runs where since is not null or found_before is not null") == []
    await end_all(stage, answer="It melts.")
    await make_due(stage, hours_ago=26)
    await start_due(stage.pool)
    second = await stage.rows("select since, found_before from runs order by id desc limit 2")
    assert {row["found_before"] for row in second} == {"It melts."}
    await end_all(stage, answer="Nothing.")
    await stage.rows("update runs set silent = true where since is not null returning 1")
    await stage.rows("update runs set answer = 'It melts.' where since is null returning 1")
    await make_due(stage)
    await start_due(stage.pool)
    [*third] = await stage.rows("select since, found_before from runs order by id desc limit 2")
    assert {row["found_before"] for row in third} == {"It melts."}, "what was silent is no news"
    assert min(row["since"] for row in third) > max(row["since"] for row in second)


async def test_words_of_a_run_that_read_private_files_are_not_handed_on(stage: Stage) -> None:
    await subscribe(stage.pool)
    await make_due(stage, hours_ago=50)
    await start_due(stage.pool)
    await end_all(stage, answer="A secret.")
    await stage.rows("insert into private_runs (run_id) select id from runs returning 1")
    await make_due(stage)
    await start_due(stage.pool)
    [row] = await stage.rows("select since, found_before from runs order by id desc limit 1")
    assert row["since"] is not None
    assert row["found_before"] is None


async def test_a_look_holds_no_connection_that_its_own_steps_would_wait_for(
    stage: Stage, database_url: str
) -> None:
    await subscribe(stage.pool, "sea ice", "permafrost")
    await make_due(stage)
    async with open_pool(database_url, size=1) as pool, asyncio.timeout(60):
        assert [found.outcome for found in await start_due(pool)] == ["started"]


async def test_a_worker_that_was_stopped_in_the_midst_of_a_look_starts_nothing_twice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await subscribe(stage.pool)
    await make_due(stage)
    stopped, go_on = asyncio.Event(), asyncio.Event()

    async def submit_late(pool: Pool, batch: NewBatch, **options: Any) -> Submitted:
        stopped.set()
        await go_on.wait()
        return await submit(pool, batch, **options)

    with monkeypatch.context() as patched:
        patched.setattr(due_times, "submit", submit_late)
        late = asyncio.create_task(start_due(stage.pool))
        await stopped.wait()
    assert [found.outcome for found in await start_due(stage.pool)] == ["started"]
    before = await subscription(stage)
    go_on.set()
    assert await late == []
    assert await subscription(stage) == before
    assert len(await stage.rows("select 1 from batches")) == 1


async def test_one_that_is_paused_in_the_midst_of_a_look_stays_paused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription_id = await subscribe(stage.pool)
    await make_due(stage)

    async def paused_meanwhile(*args: Any) -> Any:
        async with Session(stage.pool) as session:
            await Subscriptions(session).pause(subscription_id)
        return await batch_of(*args)

    batch_of = due_times._batch
    monkeypatch.setattr(due_times, "_batch", paused_meanwhile)
    assert await start_due(stage.pool) == []
    assert (await subscription(stage))["reason"] == "asked for"
    assert await stage.rows("select 1 from batches") == []


LACKING = pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ("update subscriptions set time_zone = 'Mars/Olympus' returning 1", "no time zone 'Mars/Olympus'"),
        ("update subscriptions set role = 'baker' returning 1", "no role 'baker'"),
        ("update subscriptions set model = 'unheard-of' returning 1", "price of unheard-of is not known"),
    ],
)


@LACKING
async def test_what_one_worker_lacks_something_for_is_left_to_one_that_has_it(
    stage: Stage, spoil: str, reason: str
) -> None:
    subscription_id = await subscribe(stage.pool, "broken")
    await subscribe(stage.pool, "sound")
    due_at = await make_due(stage)
    await stage.rows(spoil.replace(" returning", " where topics = '{broken}' returning"))
    left: dict[UUID, datetime] = {}
    assert sorted(found.outcome for found in await start_due(stage.pool, left)) == ["left", "started"]
    assert left == {subscription_id: due_at}
    assert await start_due(stage.pool, left) == [], "it is told once"
    [row] = await stage.rows("select * from subscriptions where id = %s", subscription_id)
    assert (row["state"], row["next_at"]) == ("active", due_at)
    assert row["reason"].startswith("Due, and no worker has started it yet: ")
    assert reason in row["reason"]
    await stage.rows(
        "update subscriptions set role = 'research', model = 'offline', time_zone = 'UTC' returning 1"
    )
    assert [found.outcome for found in await start_due(stage.pool)] == ["started"], "by another worker"
    [row] = await stage.rows("select * from subscriptions where id = %s", subscription_id)
    assert (row["state"], row["reason"], row["refused_since"]) == ("active", "", None)


@LACKING
async def test_what_no_worker_could_start_for_hours_is_paused_with_the_reason(
    stage: Stage, spoil: str, reason: str
) -> None:
    await subscribe(stage.pool)
    await make_due(stage)
    await stage.rows(spoil)
    left: dict[UUID, datetime] = {}
    await start_due(stage.pool, left)
    await stage.rows(
        "update subscriptions set refused_since = refused_since - interval '5 hours 50 minutes' returning 1"
    )
    assert await start_due(stage.pool, left) == []
    assert [found.outcome for found in await start_due(stage.pool)] == ["left"]
    await stage.rows(
        "update subscriptions set refused_since = refused_since - interval '20 minutes' returning 1"
    )
    assert [found.outcome for found in await start_due(stage.pool, left)] == ["paused"]
    row = await subscription(stage)
    assert (row["state"], row["next_at"], row["times"]) == ("paused", None, 0)
    assert reason in row["reason"]


async def test_a_time_orders_a_recheck_of_its_subject_if_that_is_wanted(stage: Stage) -> None:
    subscription_id = await subscribe(stage.pool, recheck=True)
    await subscribe(stage.pool, "glaciers")
    await make_due(stage)
    assert {due.outcome for due in await start_due(stage.pool)} == {"started"}
    orders = await stage.rows("select subject_id, subscription_id, finished_at from rechecks")
    assert orders == [{"subject_id": "the-arctic", "subscription_id": subscription_id, "finished_at": None}]


async def test_the_same_subscription_with_and_without_a_recheck_is_refused(stage: Stage) -> None:
    await subscribe(stage.pool, recheck=True)
    with pytest.raises(Conflict, match="but reads the sources of its subject again"):
        await subscribe(stage.pool)


async def test_what_a_key_made_is_its_owners_takes_from_its_budget_and_pauses_with_it(
    stage: Stage, setting: Callable[[str, str], None]
) -> None:
    setting("PRICES", '{"offline": {"input": 1, "output": 1}}')
    new_key = NewKey("alice", AccessScope.SUBMIT, "team", budget_usd=Decimal("1.5"))
    _, key = await create_key(stage.pool, new_key)
    caller = Caller("team", key_id=key.id, is_admin=False)
    async with Session(stage.pool, caller) as session:
        new = NewSubscription(("sea ice",), "The Arctic", DAILY, model="offline", budget_usd=Decimal(1))
        await Subscriptions(session).create(new)
    await make_due(stage)
    assert [due.outcome for due in await start_due(stage.pool)] == ["started"]
    [batch] = await stage.rows("select owner, key_id, budget_usd from batches")
    assert batch == {"owner": "team", "key_id": key.id, "budget_usd": Decimal(1)}
    await stage.rows("update batches set open_runs = 0, spent_usd = 1, finished_at = now() returning 1")
    await make_due(stage, hours_ago=0.5)
    [due] = await start_due(stage.pool)
    assert due.outcome == "skipped"
    assert "has 0.5 USD left" in due.reason
    await revoke_key(stage.pool, "alice")
    await make_due(stage, hours_ago=0.25)
    [due] = await start_due(stage.pool)
    assert (due.outcome, due.reason) == ("paused", "The key 'alice' that made it was revoked or has expired.")


async def test_a_person_starts_a_time_now_and_the_next_one_stays(stage: Stage) -> None:
    subscription_id = await subscribe(stage.pool, recheck=True)
    next_at = (await subscription(stage))["next_at"]
    first, second = await asyncio.gather(
        *(start_now(stage.pool, subscription_id, principal=LOCAL) for _ in range(2)), return_exceptions=True
    )
    batch_ids = {outcome.batch_id for outcome in (first, second) if isinstance(outcome, Submitted)}
    assert len(batch_ids) == 1
    [batch] = await stage.rows("select * from batches")
    assert (batch["id"], batch["subscription_id"]) == (batch_ids.pop(), subscription_id)
    row = await subscription(stage)
    assert (row["times"], row["next_at"], row["last_due_at"]) == (1, next_at, batch["due_at"])
    assert len(await stage.rows("select 1 from rechecks")) == 1
    with pytest.raises(Conflict, match="is not finished"):
        await start_now(stage.pool, subscription_id, principal=LOCAL)
    await end_all(stage)
    await make_due(stage)
    assert [due.outcome for due in await start_due(stage.pool)] == ["started"]


async def test_a_paused_subscription_is_started_by_hand_and_an_ended_or_missing_one_is_not(
    stage: Stage,
) -> None:
    subscription_id = await subscribe(stage.pool)
    await stage.rows("update subscriptions set state = 'paused', next_at = null returning 1")
    assert (await start_now(stage.pool, subscription_id, principal=LOCAL)).is_new
    assert (await subscription(stage))["state"] == "paused"
    await end_all(stage)
    await stage.rows("update subscriptions set state = 'ended' returning 1")
    with pytest.raises(Conflict, match="has ended"):
        await start_now(stage.pool, subscription_id, principal=LOCAL)
    with pytest.raises(NotFound):
        await start_now(stage.pool, uuid4(), principal=LOCAL)


async def test_the_key_that_starts_a_time_by_hand_pays_for_it(stage: Stage) -> None:
    subscription_id = await subscribe(stage.pool)
    await stage.rows("update subscriptions set budget_usd = 2, model = 'claude-opus-5-5' returning 1")
    _, key = await create_key(stage.pool, NewKey("poor", AccessScope.SUBMIT, budget_usd=Decimal("0.5")))
    principal = Principal("poor", AccessScope.SUBMIT, key_id=key.id)
    with pytest.raises(KeyBudgetSpent):
        await start_now(stage.pool, subscription_id, principal=principal)
    assert await stage.rows("select 1 from batches") == []
    await stage.rows("update access_keys set budget_usd = 5 returning 1")
    await start_now(stage.pool, subscription_id, principal=principal)
    [row] = await stage.rows("select owner, key_id from batches")
    assert (row["owner"], row["key_id"]) == ("local", key.id)
