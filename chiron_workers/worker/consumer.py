"""How a worker consumes messages: it waits for a broker that refuses commands, as for one that is away."""

import random
import time
from typing import Any

import structlog
from celery.worker.consumer import Consumer as CeleryConsumer
from celery.worker.state import maybe_shutdown

log = structlog.get_logger()

PAUSE_MIN_S = 0.5  # before it connects again; twice as long after each further failure
PAUSE_MAX_S = 5.0
STEADY_S = 30.0  # a connection that lasted so long has worked
LOOK_S = 0.1  # between two looks whether the worker is to stop


class Consumer(CeleryConsumer):  # type: ignore[misc]  # Celery has no types
    """Celery's consumer, with a pause that grows before it connects again.

    Redis may take connections and refuse commands: READONLY after a failover, MISCONF with a full disk, OOM, LOADING.
    Celery would connect again many times a second.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pause_s = 0.0
        self._failed_at = time.monotonic()

    def on_connection_error_after_connected(self, exc: BaseException) -> None:
        """Close the connection, and wait longer after each failure. Runs continue meanwhile."""
        super().on_connection_error_after_connected(exc)
        has_worked = time.monotonic() - self._failed_at > STEADY_S
        self._pause_s = PAUSE_MIN_S if has_worked else min(max(2 * self._pause_s, PAUSE_MIN_S), PAUSE_MAX_S)
        log.warning("broker.refused", error=str(exc).strip(), type=type(exc).__name__, pause_s=self._pause_s)
        wait_until = time.monotonic() + self._pause_s * random.uniform(0.5, 1)  # noqa: S311  # jitter
        while time.monotonic() < wait_until:
            maybe_shutdown()
            time.sleep(LOOK_S)
        self._failed_at = time.monotonic()
