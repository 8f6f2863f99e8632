"""Open streams: how many each key has, and the cleanup at the end of each."""

from collections import Counter
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from sse_starlette import EventSourceResponse
from starlette.types import Receive, Scope, Send

from chiron_workers.access.principals import Principal
from chiron_workers.errors import RateExceeded

HEARTBEAT_S = 15
SEND_TIMEOUT_S = 60  # for a client that reads nothing
RETRY_AFTER_S = 10


class OpenStreams:
    """The streams of one process. The user of this machine has no limit.

    Args:
        key_max: How many a key may have open, its sessions included.
    """

    def __init__(self, key_max: int) -> None:
        self._key_max = key_max
        self._counts: Counter[UUID] = Counter()

    def admit(self, principal: Principal) -> ExitStack:
        """Count a stream until the returned stack is closed. Raises RateExceeded if the key has too many."""
        stack, key_id = ExitStack(), principal.key_id
        if key_id is None:
            return stack
        if self._counts[key_id] >= self._key_max:
            raise RateExceeded(
                f"The key {principal.key_name!r} has as many streams open as it may at this server: {self._key_max:,} "
                "(CHIRON_STREAMS_PER_KEY). Close one, such as a page in a browser, and try again.",
                retry_after_s=RETRY_AFTER_S,
            )
        self._counts[key_id] += 1
        stack.callback(self._leave, key_id)
        return stack

    def _leave(self, key_id: UUID) -> None:
        self._counts[key_id] -= 1
        self._counts += Counter()  # without keys that have none


class StreamResponse(EventSourceResponse):
    """An answer of server-sent events, with a comment every 15 s that keeps proxies from hanging up.

    Args:
        at_end: Closed when the answer has ended, also if the client left before anything was sent: then the body never
            starts, so it cannot clean up.
    """

    def __init__(self, content: Any, *, at_end: ExitStack, **options: Any) -> None:
        super().__init__(content, ping=HEARTBEAT_S, send_timeout=SEND_TIMEOUT_S, **options)
        self._at_end = at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._at_end:
            await super().__call__(scope, receive, send)
