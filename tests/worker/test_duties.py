"""What a worker says of the services it waits for."""

import asyncio
import os
import signal
import time

import pytest
from structlog.testing import capture_logs
from support.run_harness import LEASE
from support.worker_processes import rows, running, wait_until

from chiron_workers.db.connect import connect
from chiron_workers.settings import Settings
from chiron_workers.worker import duties
from chiron_workers.worker.duties import log_silence
from chiron_workers.worker.postgres_contact import PostgresContact


async def test_a_postgres_that_does_not_answer_is_named_once_and_once_when_it_answers(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duties, "LOOK_S", 0.05)
    now = 0.0
    contact = PostgresContact(lease_for=LEASE, clock=lambda: now)
    with connect(database_url) as connection, capture_logs() as lines:
        contact.check(connection)
        watching = asyncio.create_task(log_silence(contact, silence_max_s=5))
        await asyncio.sleep(0.1)
        assert lines == []
        now = 30
        async with asyncio.timeout(60):
            while not lines:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        contact.check(connection)
        async with asyncio.timeout(60):
            while lines[-1]["event"] != "postgres.answers_again":
                await asyncio.sleep(0.01)
        watching.cancel()
    events = [line["event"] for line in lines if line["event"] != "postgres.clock_jumped"]
    assert events == ["postgres.silent", "postgres.answers_again"]
    assert lines[0]["waiting"] == "leases, journal, dispatch"


async def test_a_silence_in_which_the_event_loop_stood_still_as_well_is_none_of_postgres(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duties, "LOOK_S", 0.01)
    now = 0.0
    contact = PostgresContact(lease_for=LEASE, clock=lambda: now)
    with connect(database_url) as connection, capture_logs() as lines:
        contact.check(connection)
        now = 30
        watching = asyncio.create_task(log_silence(contact, silence_max_s=5))
        for _ in range(5):  # so that each look comes late
            await asyncio.sleep(0)
            time.sleep(0.05)
        watching.cancel()
    assert lines == []


@pytest.mark.acceptance
def test_a_worker_whose_renewals_are_not_answered_says_so(settings: Settings) -> None:
    # One that is stopped before it has answered anything is given up, and another is asked.
    backend = (
        "select pid from pg_stat_activity where application_name = 'chiron-renewal'"
        " and datname = current_database() and state = 'idle' and query <> ''"
    )
    env = {"CHIRON_LEASE_S": "2", "CHIRON_RENEWAL_S": "0.2", "ANTHROPIC_API_KEY": "test"}
    with running(settings, **env) as worker:
        wait_until(lambda: worker.has_said("ready."), what="the worker is ready")
        [row] = wait_until(lambda: rows(settings, backend), what="its renewals")
        os.kill(row["pid"], signal.SIGSTOP)
        try:
            wait_until(lambda: worker.has_said("postgres.silent"), what="the silence")
        finally:
            os.kill(row["pid"], signal.SIGCONT)
        wait_until(lambda: worker.has_said("postgres.answers_again"), what="an answer")
