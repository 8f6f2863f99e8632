import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

import psycopg
import structlog

from chiron_workers.db.connect import connect
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.runs.leases import Interrupt, renew
from chiron_workers.settings import Settings

log = structlog.get_logger()

LOOK_PAUSE_S = 0.1  # between two looks, however often one is asked for


class Renewal:
    """Keeps the leases of one worker from a thread and a connection of its own, one statement for all runs.

    It stops renewing when the event loop does not move (`is_alive` is False), so that a stuck worker loses its runs.

    Args:
        held: The runs held now, as (id, lease).
        is_alive: Whether the event loop has moved lately.
        on_astray: Called, in this thread, with the runs that must be left.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        held: Callable[[], Sequence[tuple[UUID, int]]],
        is_alive: Callable[[], bool],
        on_interrupts: Callable[[list[Interrupt]], None],
    ) -> None:
        self._settings = settings
        self._held = held
        self._is_alive = is_alive
        self._on_interrupts = on_interrupts
        self._stopping = threading.Event()
        self._must_look = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chiron-renewal", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def look_now(self) -> None:
        """Renew at once, and so learn what is wanted of the runs; returns at once."""
        self._must_look.set()

    def stop(self) -> None:
        """End the thread; leases that are still held run out."""
        self._stopping.set()
        self._must_look.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._renew_until_broken()
            except (psycopg.Error, ServiceUnavailable) as error:
                log.warning("renewal.failed", error=str(error).strip())
                self._stopping.wait(0.5)

    def _renew_until_broken(self) -> None:
        # A renewal that a power cut forgets costs nothing: the lease runs out, as it would have.
        options = "-c synchronous_commit=off -c statement_timeout=5s -c application_name=chiron-renewal"
        with connect(self._settings.database_url, options=options) as connection:
            while not self._stopping.is_set():
                self._must_look.clear()
                began = time.monotonic()
                held = self._held()
                if held and not self._is_alive():  # renewed as soon as it moves again
                    self._stopping.wait(LOOK_PAUSE_S)
                    continue
                if held:
                    lease_for = timedelta(seconds=self._settings.lease_s)
                    if interrupts := renew(connection, held, lease_for=lease_for):
                        self._on_interrupts(interrupts)
                self._stopping.wait(LOOK_PAUSE_S)
                self._must_look.wait(max(0.0, self._settings.renewal_s - (time.monotonic() - began)))
