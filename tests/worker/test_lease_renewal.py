"""The thread that renews leases, and what it learns of Postgres."""

from datetime import timedelta

from support.worker_processes import wait_until

from chiron_workers.db.connect import connect
from chiron_workers.runs.rescue import Server
from chiron_workers.settings import Settings
from chiron_workers.worker.lease_renewal import LeaseRenewal
from chiron_workers.worker.postgres_contact import PostgresContact

HOUR = timedelta(hours=1)
HOUR_S = HOUR.total_seconds()
CUT = """
select pg_terminate_backend(pid)
  from pg_stat_activity
 where application_name = 'chiron-renewal'
   and datname = current_database()
"""


def test_a_renewal_that_loses_its_connection_begins_its_contact_anew(settings: Settings) -> None:
    now = 0.0
    connected: list[float] = []
    contact = PostgresContact(lease_for=2 * HOUR, clock=lambda: now)
    renewal = LeaseRenewal(
        settings.model_copy(update={"renewal_s": 0.1}),
        contact,
        leases=list,
        is_alive=lambda: True,
        on_interrupts=lambda _: None,
        on_compared=lambda _leases, _server: None,
        on_connect=lambda: connected.append(now),
        on_failure=lambda _: None,
    )
    with connect(settings.database_url) as connection:
        row = connection.execute("select pg_postmaster_start_time() as started_at, now()").fetchone()
        assert row is not None
        server = Server(row["started_at"], row["now"])
        renewal.start()
        try:
            wait_until(lambda: contact.has_lasted(0, server), what="the first answer")
            now = HOUR_S
            wait_until(lambda: contact.has_lasted(HOUR_S, server), what="an answer an hour later")
            connection.execute(CUT)
            wait_until(lambda: len(connected) == 2, what="a new connection")
            wait_until(lambda: contact.has_lasted(0, server), what="an answer on it")
            assert not contact.has_lasted(1, server)
        finally:
            renewal.stop()
