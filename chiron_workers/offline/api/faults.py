"""What goes wrong on purpose, and when: a script for the first requests, then chance with a seed."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from chiron_workers.offline.api.wire import ApiError


class Fault(StrEnum):
    """One way in which a request fails."""

    RATE_LIMITED = "rate_limited"  # 429 with retry-after
    OVERLOADED = "overloaded"  # 529
    SERVER_ERROR = "server_error"  # 500
    ERROR_EVENT = "error_event"  # an overloaded_error in the middle of a stream
    DROPPED = "dropped"  # the connection breaks in the middle of a stream
    STALLED = "stalled"  # no byte for a while, then the connection breaks
    ENDED_EARLY = "ended_early"  # a clean end without stop reason and message_stop
    CORRUPT = "corrupt"  # an event that is no JSON


OVERLOADED = ApiError(529, "overloaded_error", "Overloaded")
REFUSALS = {
    Fault.RATE_LIMITED: ApiError(
        429, "rate_limit_error", "This request would exceed the rate limit.", headers={"retry-after": "1"}
    ),
    Fault.OVERLOADED: OVERLOADED,
    Fault.SERVER_ERROR: ApiError(500, "api_error", "Internal server error"),
}


@dataclass(frozen=True, slots=True)
class Faults:
    """Which request gets which fault: it follows from the seed and the request's number."""

    rate: float = 0.0
    seed: int = 0
    script: Sequence[Fault | None] = ()

    def of(self, number: int) -> Fault | None:
        """The fault of a request, counted from 0; None for one that is served."""
        if number < len(self.script):
            return self.script[number]
        chance = hashlib.blake2b(f"{self.seed}:{number}".encode(), digest_size=8).digest()
        if int.from_bytes(chance[:4]) >= self.rate * 2**32:
            return None
        return list(Fault)[int.from_bytes(chance[4:]) % len(Fault)]
