"""Each duty of a worker handles each item by itself: one that cannot be handled says why, rests, and keeps no other waiting."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from aiohttp import web
from psycopg import sql
from psycopg_pool import PoolTimeout
from support.facts_with_vectors import keep
from support.http_server import served
from support.run_harness import LEASE, Stage
from support.scripted_sites import serving

from chiron_workers import duty_failures
from chiron_workers.access.principals import Principal
from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.db.connect import Pool, connect
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.learning import orchestrator
from chiron_workers.learning.curriculum_orders import Goal
from chiron_workers.learning.orchestrator import advance_due
from chiron_workers.learning.starts import JourneyOptions, begin
from chiron_workers.pubsub.cooldowns import Cooldown
from chiron_workers.rechecks import orders
from chiron_workers.rechecks.orders import get_recheck, order_recheck, perform_next_recheck
from chiron_workers.rechecks.recheck import recheck_subject
from chiron_workers.runs.batch_completion import complete_batches
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import renew
from chiron_workers.runs.release import Release, release_run
from chiron_workers.runs.rescue import rescue
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings as process_settings
from chiron_workers.states import AccessScope, Duty, EventKind, RunState
from chiron_workers.store import Store
from chiron_workers.subscriptions import scheduler
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.occurrences import compare_occurrences, last_occurrences
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscriptions
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page
from chiron_workers.webhooks.deliveries import send_test
from chiron_workers.webhooks.sender import Sender
from chiron_workers.webhooks.webhooks import NewWebhook, Webhooks
from chiron_workers.worker import duties
from chiron_workers.worker.duties import listen_for_signals

LOSE = "update runs set leased_until = now() - interval '1 hour' where state = 'running' returning id"
REFUSAL = """
create or replace function refuse_item() returns trigger language plpgsql as $$
begin
  raise 'refused by the test';
end $$;
create trigger refuse_item
  before insert or update on {}
  for each row
  when ({})
  execute function refuse_item()
"""
FACT = "The rate of the bank is 5 % a year."
ITEM_FAULTS = (TypeError("a fault"), ServiceUnavailable("It is away."), OSError(errno.EACCES, "Denied"))


class Bench:
    """Rows of one database that Postgres refuses, and what duties failed at."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def rows(self, query: str, *args: Any) -> list[dict[str, Any]]:
        async with self.pool.connection() as connection:
            cursor = await connection.execute(sql.SQL(query), args or None)  # type: ignore[arg-type]
            return await cursor.fetchall() if cursor.description else []

    @asynccontextmanager
    async def refusing(self, table: str, condition: str) -> Any:
        async with self.pool.connection() as connection:
            await connection.execute(
                sql.SQL(REFUSAL).format(sql.Identifier(table), sql.SQL(condition))  # type: ignore[arg-type]
            )
        yield
        await self.rows(f"drop trigger refuse_item on {table}")

    async def failures(self, duty: Duty) -> list[tuple[str, int]]:
        rows = await self.rows("select item, failures from duty_failures where duty = %s order by item", duty)
        return [(row["item"], row["failures"]) for row in rows]

    async def reason(self, duty: Duty) -> str:
        [row] = await self.rows("select reason from duty_failures where duty = %s", duty)
        return str(row["reason"])

    async def end_rest(self) -> None:
        await self.rows("update duty_failures set retry_at = now() - interval '1 second'")


@pytest.fixture
def bench(pool: Pool) -> Bench:
    return Bench(pool)


@pytest.fixture(autouse=True)
def long_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """An item rests until a test ends its rest, however slow the machine is."""
    monkeypatch.setattr(duty_failures, "PAUSE_MIN", timedelta(minutes=30))


async def test_each_failure_in_a_row_doubles_the_pause_up_to_an_hour(
    pool: Pool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    pauses = []
    for _ in range(12):
        async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"):
            raise ValueError("a\0b\udc80")
        [row] = await bench.rows(
            "select extract(epoch from retry_at - failed_at)::int as s from duty_failures"
        )
        pauses.append(row["s"])
    assert pauses == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]
    assert await bench.reason(Duty.JOURNEYS) == "ValueError: a\ufffdb?"
    async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x", has_failed=True):
        pass
    assert await bench.failures(Duty.JOURNEYS) == []


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EMFILE, "Too many open files"),
        RuntimeError("can't start new thread"),
        psycopg.OperationalError("the connection is closed"),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_is_no_fault_of_the_item_is_raised(pool: Pool, bench: Bench, error: BaseException) -> None:
    with pytest.raises(type(error)):
        async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"):
            raise error
    assert await bench.failures(Duty.JOURNEYS) == []


@pytest.mark.parametrize("error", [psycopg.errors.DiskFull, psycopg.errors.ReadOnlySqlTransaction])
async def test_a_server_that_takes_no_writes_is_no_fault_of_the_item(
    pool: Pool, bench: Bench, error: type[psycopg.Error]
) -> None:
    with pytest.raises(error):
        async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"):
            raise error("refused")
    assert await bench.failures(Duty.JOURNEYS) == []


async def test_a_failure_that_postgres_refuses_to_store_ends_no_duty(pool: Pool, bench: Bench) -> None:
    async with (
        bench.refusing("duty_failures", "true"),
        duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"),
    ):
        raise TypeError("a fault")
    assert await bench.failures(Duty.JOURNEYS) == []


async def test_a_failure_that_is_not_stored_since_postgres_is_away_is_an_outage(pool: Pool) -> None:
    def away() -> Any:
        raise PoolTimeout("no connection is left")

    with pytest.raises(PoolTimeout):
        async with duty_failures.isolated(away, Duty.JOURNEYS, "x"):
            raise PermissionError(errno.EACCES, "Denied")


async def test_a_service_that_is_away_has_an_item_rest_for_half_a_minute_each_time(
    pool: Pool, bench: Bench
) -> None:
    for _ in range(8):
        async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"):
            raise ServiceUnavailable("The embedding model does not answer.")
    rows = await bench.rows("select extract(epoch from retry_at - failed_at)::int as s from duty_failures")
    assert [row["s"] for row in rows] == [30]


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.QueryCanceled,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.OutOfMemory,
        psycopg.errors.ConfigurationLimitExceeded,
        psycopg.errors.IoError,
        psycopg.errors.UndefinedFile,
    ],
)
async def test_a_statement_that_lacks_time_locks_memory_or_blocks_is_a_failure_of_the_item(
    pool: Pool, bench: Bench, error: type[psycopg.Error]
) -> None:
    async with duty_failures.isolated(pool.connection, Duty.JOURNEYS, "x"):
        raise error("refused")
    assert await bench.failures(Duty.JOURNEYS) == [("x", 1)]


@pytest.mark.parametrize("table", ["runs", "events"])
async def test_rescue_leaves_a_run_that_is_refused_and_rescues_the_others(
    stage: Stage, bench: Bench, table: str
) -> None:
    run_ids = await stage.submit("tides", "waves", "moons")
    for run_id in run_ids:
        await stage.claim(run_id)
    await stage.rows(LOSE)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    rescue_now = partial(rescue, journal, may_rescue=lambda _: True)
    bad = run_ids[1]
    column = "id" if table == "runs" else "run_id"
    async with bench.refusing(table, f"new.{column} = '{bad}'"):
        assert await rescue_now() == 2
        assert await bench.failures(Duty.RESCUE) == [(str(bad), 1)]
        assert await rescue_now() == 0, "it rests"
        await bench.end_rest()
        assert await rescue_now() == 0
        assert await bench.failures(Duty.RESCUE) == [(str(bad), 2)]
    assert {(await stage.row(run_id))["state"] for run_id in run_ids if run_id != bad} == {"queued"}
    await bench.end_rest()
    assert await rescue_now() == 1
    assert (await stage.row(bad))["state"] == "queued"
    if table == "events":
        assert await bench.failures(Duty.RESCUE) == []


async def test_a_run_whose_lease_postgres_refuses_to_renew_costs_no_other_its_lease(
    stage: Stage, bench: Bench
) -> None:
    run_ids = await stage.submit("tides", "waves", "moons")
    runs = [await stage.claim(run_id) for run_id in run_ids]
    await stage.rows(LOSE)
    async with bench.refusing("runs", f"new.id = '{run_ids[1]}'"):
        with connect(stage.settings.database_url) as connection:
            assert renew(connection, runs, lease_for=LEASE) == []
    rows = await stage.rows("select leased_until > now() as is_leased from runs order by id")
    assert [row["is_leased"] for row in rows] == [True, False, True]


@pytest.mark.parametrize("was_dispatched", [False, True])
async def test_a_run_that_cannot_be_dispatched_keeps_no_other_waiting(
    stage: Stage, bench: Bench, was_dispatched: bool
) -> None:
    run_ids = await stage.submit("tides", "waves", "moons")
    if was_dispatched:
        await stage.rows("update runs set dispatched_at = now() - interval '1 hour' returning id")

    async def dispatch_now() -> list[UUID]:
        turn = await dispatch_next(stage.pool, room=lambda: 3, redispatch_after=LEASE, model_limits={})
        return [run.id for run in turn.runs_to_dispatch]

    good, bad = [run_ids[0], run_ids[2]], run_ids[1]
    async with bench.refusing("runs", f"new.id = '{bad}' and new.dispatched_at = now()"):
        assert await dispatch_now() == good
        assert await dispatch_now() == [], "it rests"
        await bench.end_rest()
        assert await dispatch_now() == []
        assert await bench.failures(Duty.DISPATCH) == [(str(bad), 2)]
    await bench.end_rest()
    assert await dispatch_now() == [bad]
    assert await bench.failures(Duty.DISPATCH) == []


@pytest.mark.parametrize("was_dispatched", [False, True])
async def test_a_run_that_cannot_be_dispatched_takes_no_room_of_another_batch(
    stage: Stage, bench: Bench, was_dispatched: bool
) -> None:
    bad, *good = [(await stage.submit(topic))[0] for topic in ("tides", "waves", "moons")]
    if was_dispatched:
        earlier = "update runs set dispatched_at = now() - interval '1 hour' where id = %s returning id"
        await stage.rows(earlier, bad)
    order = []
    async with bench.refusing("runs", f"new.id = '{bad}' and new.dispatched_at = now()"):
        for _ in range(4):
            turn = await dispatch_next(stage.pool, room=lambda: 1, redispatch_after=LEASE, model_limits={})
            order += [run.id for run in turn.runs_to_dispatch]
            for run in turn.runs_to_dispatch:
                await stage.rows("update runs set state = 'running' where id = %s returning id", run.id)
    assert order == good


async def test_a_batch_that_cannot_be_completed_keeps_no_other_open(stage: Stage, bench: Bench) -> None:
    end = Release(RunState.COMPLETED, ((EventKind.RUN_COMPLETED, {"answer": "42"}),), answer="42")
    batch_ids = []
    for topic in ("tides", "waves"):
        [run_id] = await stage.submit(topic)
        run = await stage.claim(run_id)
        async with stage.pool.connection() as connection, connection.transaction():
            await release_run(connection, run, end)
        batch_ids.append(run.batch_id)
    async with bench.refusing("batches", f"new.id = '{batch_ids[0]}'"):
        assert [event.batch_id for event in await complete_batches(stage.pool)] == [batch_ids[1]]
        assert await bench.failures(Duty.BATCHES) == [(str(batch_ids[0]), 1)]
        assert await complete_batches(stage.pool) == []
    await bench.end_rest()
    assert [event.batch_id for event in await complete_batches(stage.pool)] == [batch_ids[0]]
    assert await bench.failures(Duty.BATCHES) == []


async def subscribe(pool: Pool, topic: str) -> UUID:
    async with Session(pool) as session:
        new = NewSubscription((topic,), "Ice", Recurrence("0 9 * * *", "UTC"), model="offline")
        return (await Subscriptions(session).create(new))[0].id


async def make_due(bench: Bench) -> None:
    at = datetime.now(UTC) - timedelta(hours=1)
    await bench.rows("update subscriptions set next_at = %s", at)


async def test_a_subscription_that_postgres_refuses_to_start_keeps_no_other_waiting(
    stage: Stage, bench: Bench
) -> None:
    bad, good = await subscribe(stage.pool, "sea ice"), await subscribe(stage.pool, "permafrost")
    await make_due(bench)
    async with bench.refusing("batches", f"new.subscription_id = '{bad}'"):
        assert [due.subscription_id for due in await start_due(stage.pool)] == [good]
        assert await bench.failures(Duty.SUBSCRIPTIONS) == [(str(bad), 1)]
        assert await start_due(stage.pool) == []
    [row] = await bench.rows("select state, reason from subscriptions where id = %s", bad)
    assert row["state"] == "active"
    assert "could not be started" in row["reason"] and "refused by the test" in row["reason"]
    await bench.end_rest()
    assert [due.subscription_id for due in await start_due(stage.pool)] == [bad]
    [row] = await bench.rows("select reason from subscriptions where id = %s", bad)
    assert (row["reason"], await bench.failures(Duty.SUBSCRIPTIONS)) == ("", [])


@pytest.mark.parametrize("error", ITEM_FAULTS, ids=lambda error: type(error).__name__)
async def test_a_subscription_that_breaks_keeps_no_other_waiting(
    stage: Stage, bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    bad, good = await subscribe(stage.pool, "sea ice"), await subscribe(stage.pool, "permafrost")
    await make_due(bench)
    original = scheduler.submit

    async def submit(pool: Pool, batch: Any, **options: Any) -> Any:
        if batch.occurrence.subscription_id == bad:
            raise error
        return await original(pool, batch, **options)

    monkeypatch.setattr(scheduler, "submit", submit)
    assert [due.subscription_id for due in await start_due(stage.pool)] == [good]
    assert await bench.failures(Duty.SUBSCRIPTIONS) == [(str(bad), 1)]


async def end_batches(bench: Bench) -> None:
    await bench.rows("update runs set state = 'completed', answer = '', finished_at = now()")
    await bench.rows("update batches set open_runs = 0, finished_at = now()")


async def test_a_time_that_cannot_be_compared_keeps_no_other_waiting(stage: Stage, bench: Bench) -> None:
    await subscribe(stage.pool, "sea ice")
    await subscribe(stage.pool, "permafrost")
    await make_due(bench)
    await start_due(stage.pool)
    await end_batches(bench)
    bad, good = [row["id"] for row in await bench.rows("select id from batches order by id")]
    async with bench.refusing("batches", f"new.id = '{bad}'"):
        assert await compare_occurrences(stage.pool) == [good]
        assert await bench.failures(Duty.COMPARISONS) == [(str(bad), 1)]
    await bench.end_rest()
    assert await compare_occurrences(stage.pool) == [bad]


async def test_times_ahead_of_the_clock_are_compared_once_the_clock_is_there(
    stage: Stage, bench: Bench
) -> None:
    subscription_id = await subscribe(stage.pool, "sea ice")
    await make_due(bench)
    await start_due(stage.pool)
    await end_batches(bench)
    await bench.rows(
        "update batches set created_at = now() + interval '2 hours', finished_at = now() + interval '3 hours'"
    )
    assert await compare_occurrences(stage.pool) == []
    assert await bench.failures(Duty.COMPARISONS) == []
    [occurrence] = await last_occurrences(Session(stage.pool), subscription_id, limit=5)
    assert occurrence.difference is None
    await bench.rows(
        "update batches set created_at = now() - interval '2 hours', finished_at = now() - interval '1 hour'"
    )
    assert len(await compare_occurrences(stage.pool)) == 1


async def test_a_journey_that_takes_no_move_keeps_no_other_waiting(
    stage: Stage, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal, options = Goal("moon", "Understand why the Moon does not fall."), JourneyOptions(model="offline")
    bad = (await begin(stage.pool, goal, options)).journey.id
    bob = Principal("bob", AccessScope.SUBMIT)
    good = (await begin(stage.pool, goal, options, principal=bob)).journey.id
    original = orchestrator.take_step

    async def take_step(pool: Pool, journey: Any) -> Any:
        if journey.id == bad:
            raise TypeError("a fault")
        return await original(pool, journey)

    monkeypatch.setattr(orchestrator, "take_step", take_step)
    async with bench.refusing("journeys", f"new.id = '{bad}'"):
        assert [item.journey.id for item in await advance_due(stage.pool)] == [good]
        assert await bench.failures(Duty.JOURNEYS) == [(str(bad), 1)]
        assert await advance_due(stage.pool) == []
    monkeypatch.setattr(orchestrator, "take_step", original)
    await bench.end_rest()
    assert [item.journey.id for item in await advance_due(stage.pool)] == [bad]
    assert await bench.failures(Duty.JOURNEYS) == []


async def order(pool: Pool, subject_id: str) -> UUID:
    await Bench(pool).rows("insert into subjects (id, title) values (%s, %s)", subject_id, subject_id)
    async with Session(pool) as session:
        return (await order_recheck(session, subject_id)).id


Perform = Callable[[], Awaitable[UUID | None]]


@pytest.fixture
def perform(stage: Stage) -> Perform:
    return lambda: perform_next_recheck(stage.pool, stage.embedder, stage.settings)


async def test_a_recheck_that_is_refused_keeps_no_other_waiting(
    stage: Stage, bench: Bench, perform: Perform
) -> None:
    bad, good = await order(stage.pool, "ice"), await order(stage.pool, "sea")
    async with bench.refusing("rechecks", f"new.id = '{bad}'"):
        assert [await perform(), await perform()] == [good, None]
        assert (await get_recheck(Session(stage.pool), good)).state == "completed"
        assert await bench.failures(Duty.RECHECKS) == [(str(bad), 1)]
    await bench.end_rest()
    assert await perform() == bad
    assert (await get_recheck(Session(stage.pool), bad)).state == "completed"
    assert await bench.failures(Duty.RECHECKS) == []


async def test_a_recheck_that_breaks_says_why_and_is_given_up_after_three_tries(
    stage: Stage, bench: Bench, perform: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await order(stage.pool, "ice"), await order(stage.pool, "sea")

    async def recheck(pool: Pool, embedder: Any, settings: Any, subject_id: str) -> Any:
        if subject_id == "ice":
            raise PermissionError(errno.EACCES, "Permission denied")
        return await recheck_subject(pool, embedder, settings, subject_id)

    monkeypatch.setattr(orders, "recheck_subject", recheck)
    assert [await perform(), await perform()] == [good, None]
    row = await get_recheck(Session(stage.pool), bad)
    assert row.state == "queued" and "Permission denied" in row.error
    for finished in (None, None, bad):
        await bench.end_rest()
        assert await perform() == finished
    row = await get_recheck(Session(stage.pool), bad)
    assert row.state == "failed"
    assert row.error.startswith("It failed 3 times") and "Permission denied" in row.error
    assert await bench.failures(Duty.RECHECKS) == []


@pytest.mark.parametrize("kind", ["path", "fault"])
async def test_a_source_that_breaks_keeps_no_other_source_of_a_recheck_unread(
    stage: Stage, kind: str, setting: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
    async with serving() as site:
        urls = [site.text(f"/{name}", f"{FACT} Of {name}.") for name in ("a", "b")]
        async with Store(Session(stage.pool), stage.embedder) as store:
            for name, url in zip("ab", urls, strict=True):
                await fetch_page(store, url)
                await store_knowledge(
                    store, content=f"{FACT} Of {name}.", quote=f"{FACT} Of {name}.", subject_id="bank",
                    source_url=url, source_score=0.9, topic_path="a/b", confidence=0.9,
                )  # fmt: skip
        if kind == "path":
            async with Session(stage.pool) as session:
                await Corpus(session).add_texts("bank", [("a.txt", "A", FACT)])
                await session.write(
                    sql.SQL("update documents set path = %(path)s"), {"path": f"/home/{'x' * 5_000}/a.txt"}
                )
                bad = "corpus://bank/a.txt"
                await session.write(
                    sql.SQL("update facts set source_url = %(bad)s where source_url = %(url)s"),
                    {"bad": bad, "url": urls[0]},
                )
                await session.write(
                    sql.SQL("update corroborations set source_url = %(bad)s where source_url = %(url)s"),
                    {"bad": bad, "url": urls[0]},
                )
        else:
            bad = urls[0]

            async def fetch(store: Store, url: str, **options: Any) -> Any:
                if url == bad:
                    raise TypeError("a fault")
                return await fetch_page(store, url, **options)

            monkeypatch.setattr("chiron_workers.rechecks.recheck.fetch_page", fetch)
        site.text("/b", "All new.")
        outcome = await recheck_subject(stage.pool, stage.embedder, process_settings(), "bank")
    assert [source.url for source in outcome.unread_sources] == [bad]
    assert "cannot be read" in outcome.unread_sources[0].note or "a fault" in outcome.unread_sources[0].note
    assert [source.url for source in outcome.changed_sources] == [urls[1]]


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ("webhooks", "new.id = '{}'"),
        ("deliveries", "new.webhook_id = '{}' and old.state is distinct from new.state"),
    ],
)
async def test_a_webhook_that_cannot_be_claimed_or_settled_keeps_no_other_waiting(
    stage: Stage, bench: Bench, setting: Callable[[str, str], None], table: str, condition: str
) -> None:
    setting("WEBHOOK_PRIVATE", "true")
    requests: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(request.path)
        return web.Response()

    app = web.Application()
    app.router.add_post("/{name}", answer)
    hook_ids = {}
    async with served(app) as url:
        async with Session(stage.pool, Caller()) as session:
            for name in ("bad", "good"):
                _, webhook = await Webhooks(session).create(NewWebhook(f"{url}/{name}"))
                hook_ids[name] = webhook.id
                await send_test(session, webhook.id)
        sender = Sender(stage.pool, process_settings())

        async def send_all() -> None:
            while await sender.send_due():
                await sender.finish()

        async with refusing_updates(bench, table, condition.format(hook_ids["bad"])):
            await send_all()
            assert "/good" in requests
            assert await bench.failures(Duty.DELIVERIES) == [(str(hook_ids["bad"]), 1)]
        await bench.end_rest()
        await bench.rows("update webhooks set claimed_until = null")
        await send_all()
        assert requests[-1] == "/bad"
    states = await bench.rows("select distinct state from deliveries")
    assert [row["state"] for row in states] == ["delivered"]
    assert await bench.failures(Duty.DELIVERIES) == []


@asynccontextmanager
async def refusing_updates(bench: Bench, table: str, condition: str) -> Any:
    await bench.rows(REFUSAL.split("create trigger", maxsplit=1)[0])
    await bench.rows(
        f"create trigger refuse_item before update on {table} for each row when ({condition})"
        " execute function refuse_item()"
    )
    yield
    await bench.rows(f"drop trigger refuse_item on {table}")


@pytest.mark.parametrize("texts", ["facts", "passages"])
async def test_a_text_whose_words_cannot_be_indexed_keeps_no_other_waiting(
    pool: Pool, bench: Bench, texts: str
) -> None:
    if texts == "facts":
        for n in range(3):
            await keep(pool, None, f"The tides are {n} metres high.")
        condition = "new.content like '%1 metres%'"
    else:
        async with Session(pool) as session:
            await Corpus(session).add_texts("moon", [(f"{n}.txt", f"Moon {n}", FACT) for n in range(3)])
            await session.write(sql.SQL("update passages set language = null"))
        [row] = await bench.rows("select min(document_id::text) as id from passages")
        condition = f"new.document_id = '{row['id']}'"
    async with refusing_updates(bench, texts, f"{condition} and new.language is not null"):
        assert await index_words(pool) == 2
        assert [count for _, count in await bench.failures(Duty.WORDS)] == [1]
        assert await index_words(pool) == 0
    await bench.end_rest()
    assert await index_words(pool) == 1
    assert await bench.failures(Duty.WORDS) == []


async def test_a_signal_that_breaks_does_not_end_the_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [uuid4(), uuid4()]

    async def signals(_: str) -> Any:
        yield targets[0]
        yield Cooldown("model", float("inf"))
        yield targets[1]

    def refuse(_: Cooldown) -> None:
        raise OverflowError("cannot convert float infinity to integer")

    taken: list[UUID] = []
    monkeypatch.setattr(duties, "signals", signals)
    await listen_for_signals("redis://there", on_cooldown=refuse, on_target=taken.append)
    assert taken == targets
