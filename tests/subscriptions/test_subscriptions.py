import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from psycopg import AsyncConnection

from chiron_workers.batches.submit import NO_BUDGET, NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError, Conflict, NotFound, ToolError, UsageError
from chiron_workers.ids import new_id
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings as settings_of_process
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscription, Subscriptions

MONDAYS = Recurrence("0 9 * * MON", "Europe/Berlin")


def wanted(*topics: str, recurrence: Recurrence = MONDAYS, **more: object) -> NewSubscription:
    return NewSubscription(topics or ("sea ice",), "The Arctic", recurrence, **more)  # type: ignore[arg-type]


async def create(pool: Pool, new: NewSubscription, caller: Caller | None = None) -> tuple[Subscription, bool]:
    async with Session(pool, caller or Caller()) as session:
        return await Subscriptions(session).create(new)


async def in_a_run(
    pool: Pool, model: str = "offline", *, budget: Budget = NO_BUDGET, of_batch: Budget = NO_BUDGET
) -> Caller:
    run = NewRun("ice", "research", "The Arctic", model, 10, budget=budget)
    submitted = await submit(pool, NewBatch([run], "The Arctic", budget=of_batch))
    return Caller("local", submitted.run_ids[0], submitted.batch_id, "call-1", "the-arctic")


async def test_a_subscription_says_when_it_is_due_first(pool: Pool) -> None:
    made, is_new = await create(pool, wanted("sea ice", "permafrost"))
    assert is_new
    assert (made.subject_id, made.topics, made.state) == ("the-arctic", ["sea ice", "permafrost"], "active")
    assert made.next_at == MONDAYS.next_after(datetime.now(UTC))
    assert (made.times, made.last_batch_id, made.made_by, made.run_id) == (0, None, "local", None)


async def test_the_same_subscription_made_again_is_the_one_there_is_even_at_once(pool: Pool) -> None:
    made = await asyncio.gather(*(create(pool, wanted()) for _ in range(4)))
    assert len({found.id for found, _ in made}) == 1
    assert sum(is_new for _, is_new in made) == 1
    other, is_new = await create(pool, wanted(recurrence=Recurrence("0 9 * * TUE", "Europe/Berlin")))
    assert is_new
    assert other.id != made[0][0].id


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (wanted(" "), "The topic is empty"),
        (wanted(*(f"topic {n}" for n in range(21))), "1 to 20 topics (got 21)"),
        (wanted("ice", "ice"), "A topic is named twice"),
        (wanted(role="baker"), "There is no role 'baker'"),
        (wanted(recurrence=Recurrence("* * * * *", "UTC")), "at least 60 minutes must lie between"),
        (wanted(recurrence=Recurrence("0 9 * * *", "Atlantis")), "There is no time zone 'Atlantis'"),
        (wanted(model="claude-opus-5-5", budget_usd=Decimal(21)), "A time may cost at most 20 USD"),
        (wanted(model="claude-opus-5-5", budget_usd=Decimal(0)), "above 0"),
        (wanted(ends_at=datetime.now(UTC)), "after the subscription has ended"),
    ],
)
async def test_what_cannot_be_subscribed_to_is_refused_and_leaves_nothing(
    pool: Pool, new: NewSubscription, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        await create(pool, new)
    assert words in str(caught.value)
    async with pool.connection() as connection:
        rows = await (await connection.execute("select id from subscriptions")).fetchall()
        subjects = await (await connection.execute("select id from subjects")).fetchall()
    assert (rows, subjects) == ([], [])


async def test_a_time_costs_no_more_than_a_run_unless_its_model_has_no_price(
    pool: Pool, unpriced: str
) -> None:
    priced, _ = await create(pool, wanted(model="claude-opus-5-5"))
    assert priced.budget_usd == Decimal(20)
    free, _ = await create(pool, wanted("tides", model=unpriced))
    assert free.budget_usd is None


async def test_a_subject_has_so_many_active_subscriptions_and_no_more(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIRON_SUBSCRIPTIONS_PER_SUBJECT", "2")
    settings_of_process.cache_clear()

    async def try_to(topic: str) -> bool:
        try:
            return (await create(pool, wanted(topic)))[1]
        except Conflict as error:
            assert "the-arctic has 2 active subscriptions, and may have 2" in str(error)
            return False

    try:
        made = await asyncio.gather(*(try_to(f"topic {n}") for n in range(5)))
        assert sum(made) == 2
        async with Session(pool) as session:
            subscriptions = Subscriptions(session)
            first, *_ = await subscriptions.newest(limit=10)
            await subscriptions.pause(first.id)
        assert await try_to("one more")
        async with Session(pool) as session:
            with pytest.raises(Conflict, match="Pause or delete one first"):
                await Subscriptions(session).resume(first.id)
    finally:
        monkeypatch.undo()
        settings_of_process.cache_clear()


async def test_a_run_subscribes_for_its_own_subject_with_its_own_model(pool: Pool) -> None:
    caller = await in_a_run(pool, "claude-opus-5-5")
    made, _ = await create(pool, wanted(), caller)
    assert (made.run_id, made.model, made.subject_id) == (caller.run_id, "claude-opus-5-5", "the-arctic")
    with pytest.raises(ToolError, match="this run works on 'the-arctic' and cannot write to 'elsewhere'"):
        await create(pool, NewSubscription(("x",), "Elsewhere", MONDAYS), caller)


async def test_what_a_run_makes_waits_for_a_person_who_starts_it(pool: Pool) -> None:
    caller = await in_a_run(pool)
    made, _ = await create(pool, wanted(), caller)
    assert (made.state, made.next_at) == ("paused", None)
    assert made.reason == f"made by run {caller.run_id}; a person resumes it"
    assert await create(pool, wanted(), caller) == (made, False)
    async with Session(pool) as session:
        started = await Subscriptions(session).resume(made.id)
    assert (started.state, started.next_at) == ("active", MONDAYS.next_after(datetime.now(UTC)))


@pytest.mark.parametrize(
    ("own", "of_batch", "most"),
    [("0.5", None, "0.5"), ("3", "0.25", "0.25"), (None, "2", "2"), ("30", None, "20")],
)
async def test_a_run_orders_nothing_that_costs_more_than_it_and_its_batch_may(
    pool: Pool, own: str | None, of_batch: str | None, most: str
) -> None:
    budgets = [Budget(Decimal(usd) if usd else None) for usd in (own, of_batch)]
    caller = await in_a_run(pool, "claude-opus-5-5", budget=budgets[0], of_batch=budgets[1])
    assert (await create(pool, wanted(), caller))[0].budget_usd == Decimal(most)
    with pytest.raises(UsageError, match=f"A time may cost at most {most} USD, .*; got 20.1"):
        await create(pool, wanted("tides", budget_usd=Decimal("20.1")), caller)
    less, _ = await create(pool, wanted("tides", budget_usd=Decimal("0.1")), caller)
    assert less.budget_usd == Decimal("0.1")


async def test_what_runs_have_made_and_nobody_started_leaves_no_room_for_runs_and_all_of_it_for_people(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIRON_SUBSCRIPTIONS_PER_SUBJECT", "2")
    settings_of_process.cache_clear()
    try:
        await create(pool, wanted("topic 1"))
        caller = await in_a_run(pool)
        await create(pool, wanted("topic 2"), caller)
        with pytest.raises(Conflict, match="1 active subscriptions and 1 that wait for a person"):
            await create(pool, wanted("topic 3"), caller)
        assert (await create(pool, wanted("topic 3")))[1]
    finally:
        monkeypatch.undo()
        settings_of_process.cache_clear()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"model": "claude-sonnet-5"}, "model claude-sonnet-5, 3 USD each time and no end"),
        ({"budget_usd": Decimal("0.5")}, "model claude-opus-5-5, 0.5 USD each time and no end"),
        ({"budget_usd": None}, "model claude-opus-5-5, 20 USD each time and no end"),
        ({"ends_at": datetime(2099, 1, 1, tzinfo=UTC)}, "3 USD each time and an end at 2099-01-01 00:00 UTC"),
    ],
)
async def test_the_same_on_other_terms_is_refused_with_the_terms_of_the_one_there_is(
    pool: Pool, other: dict[str, object], words: str
) -> None:
    terms: dict[str, object] = {"model": "claude-opus-5-5", "budget_usd": Decimal(3)}
    made, _ = await create(pool, wanted(**terms))
    with pytest.raises(Conflict) as caught:
        await create(pool, wanted(**(terms | other)))
    assert f"Subscription {made.id} has the same" in str(caught.value)
    assert "but model claude-opus-5-5, 3 USD each time and no end; you ask for" in str(caught.value)
    assert words in str(caught.value).partition("you ask for")[2]
    assert await create(pool, wanted(**terms)) == (made, False)


async def test_pausing_resuming_and_deleting(pool: Pool) -> None:
    made, _ = await create(pool, wanted())
    async with Session(pool) as session:
        subscriptions = Subscriptions(session)
        paused = await subscriptions.pause(made.id)
        assert (paused.state, paused.next_at, paused.reason) == ("paused", None, "asked for")
        assert await subscriptions.pause(made.id) == paused
        resumed = await subscriptions.resume(made.id)
        assert (resumed.state, resumed.next_at, resumed.reason) == ("active", made.next_at, "")
        await subscriptions.remove(made.id)
        for act in (subscriptions.get, subscriptions.pause, subscriptions.resume, subscriptions.remove):
            with pytest.raises(NotFound, match="There is no subscription"):
                await act(made.id)
        with pytest.raises(NotFound):
            await subscriptions.get(new_id())


async def test_they_are_listed_newest_first_in_pages(pool: Pool) -> None:
    made = [(await create(pool, wanted(f"topic {n}")))[0].id for n in range(5)]
    async with Session(pool) as session:
        subscriptions = Subscriptions(session)
        first = await subscriptions.newest(limit=3)
        rest = await subscriptions.newest(limit=3, before=first[-1].id)
        assert [found.id for found in (*first, *rest)] == made[::-1]
        assert await subscriptions.newest(limit=3, subject_id="elsewhere") == []


async def test_an_ended_one_is_over_and_makes_room_for_the_same_again(
    pool: Pool, connection: AsyncConnection
) -> None:
    made, _ = await create(pool, wanted(ends_at=datetime.now(UTC) + timedelta(days=30)))
    await connection.execute("update subscriptions set state = 'ended', next_at = null")
    async with Session(pool) as session:
        for act in (Subscriptions(session).pause, Subscriptions(session).resume):
            with pytest.raises(ChironError, match="has ended; make a new one"):
                await act(made.id)
    again, is_new = await create(pool, wanted())
    assert is_new
    assert again.id != made.id


@pytest.fixture
async def connection(database_url: str):
    async with await AsyncConnection.connect(database_url, autocommit=True) as opened:
        yield opened
