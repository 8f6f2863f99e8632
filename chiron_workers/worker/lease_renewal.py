import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import psycopg
import structlog

from chiron_workers.db.connect import connect
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.leases import Interrupt, renew
from chiron_workers.settings import Settings
from chiron_workers.worker.postgres_contact import PostgresContact

log = structlog.get_logger()

BEAT_S = 0.5
PAUSE_MIN_S = 0.1  # between two renewals, however often one is asked for
RECONNECT_S = 0.25  # between two attempts to reach Postgres
CONNECT_TIMEOUT_S = 3  # so that no attempt of an outage outlasts it for long
OPTIONS = "-c synchronous_commit=off -c statement_timeout=5s -c application_name=chiron-renewal"


class Heartbeat:
    """Shows other threads whether the event loop moves."""

    def __init__(self, *, overdue_s: float) -> None:
        self._overdue_s = overdue_s
        self._last_beat = time.monotonic()

    def is_alive(self) -> bool:
        """Whether the event loop moved within the last `overdue_s`."""
        return time.monotonic() - self._last_beat < self._overdue_s

    async def beat(self) -> None:
        """Beat within the event loop; never ends."""
        while True:
            self._last_beat = time.monotonic()
            await asyncio.sleep(BEAT_S)


class LeaseRenewal:
    """Renews the leases of one worker from a thread and a connection of its own, one statement for all runs.

    It stops renewing while the event loop does not move (`is_alive` is False), so that a stuck worker loses its runs.
    With or without leases it has Postgres answer at every renewal, and so keeps `contact`.

    Args:
        contact: What it learns of Postgres.
        leases: The runs leased now.
        on_interrupts: Called, in this thread, with the runs whose lease is lost or that somebody wants stopped.
        on_compared: Called, in this thread and after `on_interrupts`, with the runs whose leases were compared with the rows,
            and the start of the server that has these rows.
        on_connect: Called, in this thread, each time Postgres is reached, first and after an outage.
        on_failure: Called, in this thread, with the error that ends it: a worker that renews no more must not go on.
    """

    def __init__(
        self,
        settings: Settings,
        contact: PostgresContact,
        *,
        leases: Callable[[], Sequence[LeasedRun]],
        is_alive: Callable[[], bool],
        on_interrupts: Callable[[list[Interrupt]], None],
        on_compared: Callable[[Sequence[LeasedRun], datetime], None],
        on_connect: Callable[[], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._settings = settings
        self._contact = contact
        self._leases = leases
        self._is_alive = is_alive
        self._on_interrupts = on_interrupts
        self._on_compared = on_compared
        self._on_connect = on_connect
        self._on_failure = on_failure
        self._stopping = threading.Event()
        self._is_due = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chiron-renewal", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def renew_now(self) -> None:
        """Renew at once, and so learn which runs are to be stopped; returns at once."""
        self._is_due.set()

    def stop(self) -> None:
        """End the thread; leases that are still held run out."""
        self._stopping.set()
        self._is_due.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._renew_until_disconnected()
            except (psycopg.Error, ServiceUnavailable) as error:
                self._contact.lose()
                log.warning("renewal.failed", error=str(error).strip())
                self._stopping.wait(RECONNECT_S)
            except BaseException as error:  # noqa: BLE001  # the thread would end without a word
                self._on_failure(error)
                return

    def _renew_until_disconnected(self) -> None:
        # synchronous_commit=off: a renewal that a power cut loses costs nothing, the lease would have run out as well.
        with connect(
            self._settings.database_url, connect_timeout=CONNECT_TIMEOUT_S, options=OPTIONS
        ) as connection:
            self._on_connect()
            while not self._stopping.is_set():
                self._is_due.clear()
                began = time.monotonic()
                leases = self._leases()
                if leases and not self._is_alive():  # renewed as soon as it moves again
                    self._stopping.wait(PAUSE_MIN_S)
                    continue
                if leases:
                    lease_for = timedelta(seconds=self._settings.lease_s)
                    if interrupts := renew(connection, leases, lease_for=lease_for):
                        self._on_interrupts(interrupts)
                self._on_compared(leases, self._contact.check(connection))
                self._stopping.wait(PAUSE_MIN_S)
                self._is_due.wait(max(0.0, self._settings.renewal_s - (time.monotonic() - began)))
