"""Who may take the runs of a worker that is not heard of."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from psycopg import Connection
from psycopg.errors import DiskFull
from psycopg.rows import DictRow
from psycopg.sql import SQL
from support.postgres_faults import postgres_faults
from support.run_harness import LEASE, Stage, open_stage
from support.scripted_model import Says, says, scripted_model
from support.sql_clock import SqlClock
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, connect, fetch_all, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.runs import rescue as rescue_module
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import renew
from chiron_workers.runs.rescue import Server, rescue
from chiron_workers.settings import Settings
from chiron_workers.worker import postgres_contact
from chiron_workers.worker.duties import rescue_lost_runs
from chiron_workers.worker.postgres_contact import PostgresContact

HOUR = timedelta(hours=1)
HOUR_S = HOUR.total_seconds()
LOSE = "update runs set leased_until = now() - interval '1 hour' where state = 'running' returning id"


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection[DictRow]]:
    with connect(database_url) as connection:
        yield connection


@pytest.fixture
def server(connection: Connection[DictRow]) -> Server:
    """The server, as it answers now."""
    row = connection.execute("select pg_postmaster_start_time() as started_at, now()").fetchone()
    assert row is not None
    return Server(row["started_at"], row["now"])


def test_a_contact_lasts_from_the_first_answer(connection: Connection[DictRow], server: Server) -> None:
    contact = PostgresContact(lease_for=2 * HOUR)
    assert not contact.has_lasted(0, server)
    contact.check(connection)
    contact.check(connection)
    assert contact.has_lasted(0, server)
    assert not contact.has_lasted(HOUR_S, server)


def test_a_lost_connection_is_a_break(connection: Connection[DictRow], server: Server) -> None:
    contact = PostgresContact(lease_for=2 * HOUR)
    contact.check(connection)
    contact.lose()
    assert not contact.has_lasted(0, server)


def test_an_answer_of_another_server_is_a_break(connection: Connection[DictRow]) -> None:
    contact = PostgresContact(lease_for=2 * HOUR)
    contact.check(connection)
    assert not contact.has_lasted(0, Server(datetime.now(UTC), datetime.now(UTC)))


def test_a_silence_is_a_break_and_the_late_answer_begins_anew(
    connection: Connection[DictRow], server: Server
) -> None:
    now = 0.0
    contact = PostgresContact(lease_for=timedelta(seconds=10), clock=lambda: now)
    contact.check(connection)
    now = 5
    contact.check(connection)
    assert contact.has_lasted(5, server)
    now = 11
    assert not contact.has_lasted(0, server)
    contact.check(connection)
    assert contact.has_lasted(0, server)
    assert not contact.has_lasted(1, server)


def test_a_standby_is_no_contact(server: Server) -> None:
    contact = PostgresContact(lease_for=2 * HOUR)
    contact.check(_Answering({"started_at": server.started_at, "now": server.now, "is_standby": False}))  # type: ignore[arg-type]
    assert contact.has_lasted(0, server)
    contact.check(_Answering({"started_at": server.started_at, "now": server.now, "is_standby": True}))  # type: ignore[arg-type]
    assert not contact.has_lasted(0, server)


@pytest.mark.parametrize("is_answer_late", [True, False], ids=["late answer", "late question"])
def test_a_slow_answer_is_no_jump_of_the_clock(server: Server, is_answer_late: bool) -> None:
    now = 0.0
    contact = PostgresContact(lease_for=timedelta(seconds=10), clock=lambda: now)

    class Slow(_Answering):
        def execute(self, query: object) -> "_Answering":
            nonlocal now
            assert query is postgres_contact.SQL["server"], "no lease is shortened"
            delay_s = 2.5 if round(now) % 3 == 0 else 0.0
            now += 0.0 if is_answer_late else delay_s
            self._row["now"] = server.now + timedelta(seconds=now)
            now += delay_s if is_answer_late else 0.0
            return self

    slow = Slow({"started_at": server.started_at, "is_standby": False})
    for _ in range(20):
        contact.check(slow)  # type: ignore[arg-type]
        now += 2
    assert contact.has_lasted(40, Server(server.started_at, server.now + timedelta(seconds=now)))


def test_a_clock_that_jumped_ahead_begins_the_contact_anew(server: Server) -> None:
    now = 0.0
    contact = PostgresContact(lease_for=2 * HOUR, clock=lambda: now)
    answering = _Answering({"started_at": server.started_at, "now": server.now, "is_standby": False})
    contact.check(answering)  # type: ignore[arg-type]
    now = 60
    jumped = Server(server.started_at, server.now + HOUR)
    answering._row["now"] = jumped.now
    contact.check(answering)  # type: ignore[arg-type]
    assert contact.has_lasted(0, jumped)
    assert not contact.has_lasted(1, jumped)


class _Answering:
    # No test has a standby at hand.
    def __init__(self, row: dict[str, object]) -> None:
        self._row = row

    def execute(self, _: object) -> "_Answering":
        return self

    def fetchone(self) -> dict[str, object]:
        return self._row


async def test_whoever_has_not_reached_postgres_for_a_whole_lease_takes_nobodys_run(
    stage: Stage, connection: Connection[DictRow]
) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.claim(run_id)
    await stage.rows(LOSE)
    journal, contact = (
        Journal(stage.pool, lambda _: None, lease_for=LEASE),
        PostgresContact(lease_for=2 * HOUR),
    )
    contact.check(connection)
    assert await rescue(journal, may_rescue=partial(contact.has_lasted, HOUR_S)) == 0
    assert (await stage.row(run_id))["state"] == "running"
    assert await rescue(journal, may_rescue=partial(contact.has_lasted, 0)) == 1
    assert (await stage.row(run_id))["state"] == "queued"


async def test_leases_are_looked_at_before_it_is_asked_whether_they_say_anything(
    stage: Stage, connection: Connection[DictRow]
) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.claim(run_id)
    await stage.rows(LOSE)

    def are_locked(_: Server) -> bool:
        return not connection.execute("select 1 from runs for update skip locked").fetchall()

    journal = Journal(stage.pool, lambda _: None, lease_for=LEASE)
    assert await rescue(journal, may_rescue=are_locked) == 1


async def test_a_holder_that_renews_once_postgres_writes_again_keeps_its_run(
    stage: Stage, connection: Connection[DictRow], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_renewed = asyncio.Event()

    async def until_renewed(seconds: float) -> None:
        assert seconds == 5
        await is_renewed.wait()

    monkeypatch.setattr(rescue_module, "asyncio", SimpleNamespace(sleep=until_renewed))
    held_id, lost_id = await stage.submit("tides", "waves")
    held, _ = [await stage.claim(run_id) for run_id in (held_id, lost_id)]
    await stage.rows(LOSE)
    journal = Journal(stage.pool, lambda _: None, lease_for=LEASE)
    rescue_now = partial(rescue, journal, may_rescue=lambda _: True, notice=timedelta(seconds=5))
    with postgres_faults(database_url) as faults, faults.full_disk(), pytest.raises(DiskFull):
        await rescue_now()
    versions = "select ctid::text as version from runs order by id"
    written_before = await stage.rows(versions)
    rescuing = asyncio.create_task(rescue_now())
    while any(row in written_before for row in await stage.rows(versions)):
        await asyncio.sleep(0.01)
    renew(connection, [held], lease_for=LEASE)
    is_renewed.set()
    assert await rescuing == 1
    assert [(await stage.row(run_id))["state"] for run_id in (held_id, lost_id)] == ["running", "queued"]


async def test_a_holder_whose_renewal_meets_the_rescuers_write_has_time_for_the_next_one(
    stage: Stage, connection: Connection[DictRow], settings: Settings
) -> None:
    settings = settings.model_copy(update={"renewal_s": 0.2})
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await stage.rows(LOSE)
    journal, is_over, looked_at = Journal(stage.pool, lambda _: None, lease_for=LEASE), asyncio.Event(), []

    class Contact(PostgresContact):
        def has_lasted(self, seconds: float, server: Server) -> bool:
            looked_at.append(asyncio.get_running_loop().time())
            renew(connection, [run], lease_for=LEASE)
            return True

    contact = Contact(lease_for=LEASE)
    duty = asyncio.create_task(rescue_lost_runs(journal, settings, contact, on_rescue=is_over.set))
    await is_over.wait()
    duty.cancel()
    first_look, second_look = looked_at
    assert second_look - first_look > 1.25 * settings.renewal_s


async def test_all_lost_runs_are_taken_after_one_notice_by_few_in_a_transaction(
    stage: Stage, connection: Connection[DictRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue_module, "RUNS_PER_TRANSACTION", 2)
    for run_id in await stage.submit("tides", "waves", "moons"):
        await stage.claim(run_id)
    await stage.rows(LOSE)
    locked = []

    def count_locked(_: Server) -> bool:
        free = connection.execute("select 1 from runs where state = 'running' for update skip locked")
        running = connection.execute("select 1 from runs where state = 'running'")
        locked.append(running.rowcount - free.rowcount)
        return True

    journal = Journal(stage.pool, lambda _: None, lease_for=LEASE)
    assert await rescue(journal, may_rescue=count_locked) == 3
    assert locked == [3, 2, 1]


@pytest.fixture
def clock(database_url: str) -> Iterator[SqlClock]:
    clock = SqlClock(database_url)
    yield clock
    clock.close()


async def test_a_jump_of_the_servers_clock_ends_no_living_holders_lease(
    clock: SqlClock, database_url: str, settings: Settings, embedder: Embedder
) -> None:
    contact = PostgresContact(lease_for=LEASE)
    may_rescue = partial(contact.has_lasted, 0)
    async with open_pool(database_url, size=3) as pool, open_stage(pool, settings, embedder) as stage:
        (run_id,) = await stage.submit("tides")
        run = await stage.claim(run_id)
        journal = Journal(pool, lambda _: None, lease_for=LEASE)
        with connect(database_url) as renewal:
            contact.check(renewal)
            clock.jump(hours=1)
            assert await rescue(journal, may_rescue=may_rescue) == 0
            contact.check(renewal)  # and from then on a whole lease, in which the holder renews
            row_after = await stage.row(run_id)
            assert not contact.has_lasted(1, Server(*await server_now(pool)))
            renew(renewal, [run], lease_for=LEASE)
            assert await rescue(journal, may_rescue=may_rescue) == 0
    assert (row_after["state"], row_after["lease"]) == ("running", run.lease)


async def test_after_a_step_back_of_the_servers_clock_a_lost_run_waits_for_one_lease_and_no_hour(
    clock: SqlClock, database_url: str, settings: Settings, embedder: Embedder
) -> None:
    contact = PostgresContact(lease_for=LEASE)
    async with open_pool(database_url, size=3) as pool, open_stage(pool, settings, embedder) as stage:
        (run_id,) = await stage.submit("tides")
        await stage.claim(run_id)
        with connect(database_url) as renewal:
            contact.check(renewal)
            clock.jump(hours=-1)
            left = "select leased_until - now() as left from runs"
            assert (await stage.rows(left))[0]["left"] > timedelta(minutes=59)
            contact.check(renewal)
            assert (await stage.rows(left))[0]["left"] <= LEASE


async def server_now(pool: Pool) -> tuple[datetime, datetime]:
    query = SQL("select pg_postmaster_start_time() as started_at, now()")
    (row,) = await fetch_all(pool, query)
    return row["started_at"], row["now"]


async def done(_: object) -> Says:
    return says("done")


async def test_a_worker_that_starts_leaves_the_living_holders_a_whole_lease(settings: Settings) -> None:
    lease_s = 2.0
    async with open_pool(settings.database_url, size=2) as pool:
        await submit(
            pool, NewBatch([NewRun("tides", "research", "Physics", "claude-opus-5-5", 50)], "Physics")
        )
    taken = "update runs set state = 'running', lease = 1, worker = 'gone', leased_until = now() - interval '1 h' returning 1"
    rows(settings, taken)
    env = {
        "CHIRON_LEASE_S": f"{lease_s:g}",
        "CHIRON_RENEWAL_S": "0.5",
        "CHIRON_RESCUE_S": "0.1",
        "ANTHROPIC_API_KEY": "test",
    }
    async with scripted_model(done) as model:
        with running(settings, **env, ANTHROPIC_BASE_URL=model.url):
            renewal = (
                "select backend_start as at from pg_stat_activity where application_name = 'chiron-renewal'"
            )
            connected = f"{renewal} and datname = current_database()"
            reached = wait_until(lambda: rows(settings, connected), what="Postgres reached")[0]["at"]
            rescued = "select at from events where kind = 'run.handed_back'"
            handed_back = wait_until(lambda: rows(settings, rescued), what="the rescue")[0]["at"]
    assert handed_back - reached >= timedelta(seconds=lease_s)
