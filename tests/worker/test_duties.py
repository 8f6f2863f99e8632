"""What a worker says of the services it waits for."""

import asyncio

import pytest
from structlog.testing import capture_logs
from support.run_harness import LEASE

from chiron_workers.db.connect import connect
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
