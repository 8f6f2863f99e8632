import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from chiron_workers.duty_failures import reason_of
from chiron_workers.pubsub.redis import leave_if_cancelled

PAUSE_S = 0.1
PAUSE_MAX_S = 5.0
LASTING_S = 5.0  # A connection that fails later has worked.
ERROR_CHARS = 200


class Reconnection:
    """Reconnects a long-lived loop to Redis after its connection fails: only cancellation ends the loop.

    Outages are silent, since `redis.refuses` tells of them. Any other error is a garbled reply or a fault of the program. It is
    logged as the given event, once until the connection works again or another error comes.
    """

    def __init__(self, event: str) -> None:
        self._event = event
        self._pause_s = PAUSE_S
        self._last_error: type[BaseException] | None = None

    @contextmanager
    def faults_suppressed(self) -> Iterator[None]:
        """Use a connection within this block. Raises the cancellation of this task, also one that redis-py has swallowed."""
        began = time.monotonic()
        try:
            yield
        except (RedisError, OSError):
            self._reset_after(began)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # the loop would end for the life of the process
            leave_if_cancelled()  # Else a future of the connection was cancelled, and not this task.
            self._reset_after(began)
            self._log(error)
        else:
            self._reset()
        leave_if_cancelled()

    async def pause(self) -> None:
        """Wait before the next connection, longer after each one that failed soon."""
        await asyncio.sleep(self._pause_s * random.uniform(0.5, 1))  # noqa: S311  # jitter
        self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)

    def _reset_after(self, began: float) -> None:
        if time.monotonic() - began > LASTING_S:
            self._reset()

    def _reset(self) -> None:
        self._pause_s, self._last_error = PAUSE_S, None

    def _log(self, error: BaseException) -> None:
        if type(error) is self._last_error:
            return
        import structlog  # which a command that only reads never needs

        self._last_error = type(error)
        # The error comes first, so that a line that is cut still has it.
        structlog.get_logger().error(
            self._event,
            error=reason_of(error)[:ERROR_CHARS],
            reason="the connection to Redis failed in a way that is no outage; it is opened again",
            exc_info=error,
        )
