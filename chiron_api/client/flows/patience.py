"""How long, and how often, something is tried again."""

import random
import time

from chiron_api.client.errors import ChironError

FIRST_DELAY_S, DELAY_MAX_S = 0.25, 10.0


def backoff_s(attempt: int) -> float:
    """Seconds before the next attempt, twice as many each time, at random so that many clients do not come at once."""
    delay_s = min(DELAY_MAX_S, FIRST_DELAY_S * 2.0 ** min(attempt, 10))
    return delay_s * random.uniform(0.5, 1)  # noqa: S311  # nothing secret


class Patience:
    """Waits for a server that is away, up to `limit_s` in a row."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self.reset()

    def reset(self) -> None:
        """Begin anew, since the server is there."""
        self._since: float | None = None
        self._attempts = 0

    def delay_s(self, error: ChironError) -> float:
        """Seconds to wait after an error, those at least that the server named. Raises the error once it is too long."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        delay_s = max(backoff_s(self._attempts), error.retry_after_s)
        self._attempts += 1
        if now + delay_s - self._since > self._limit_s:
            raise error
        return delay_s
