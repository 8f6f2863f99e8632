"""How many connections Flower holds open, and how long it waits for the rest of a request: tornado by itself waits an hour."""

from collections import deque
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

REQUEST_TIMEOUT_S = 20.0  # for the headers, and again for the body; an idle connection is closed as soon
OPEN_MAX = 100  # connections: some people's browsers; the oldest gives way
LIMITS: dict[str, Any] = {
    "idle_connection_timeout": REQUEST_TIMEOUT_S,
    "body_timeout": REQUEST_TIMEOUT_S,
    "max_header_size": 64 * 1024,
    "max_body_size": 1024 * 1024,
}


class BoundedServer(HTTPServer):
    """An HTTP server that requests which are begun and never end cannot fill."""

    def __init__(
        self, *arguments: Any, **options: Any
    ) -> None:  # what tornado sets up is done by `initialize`
        self._open: deque[IOStream] = deque()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a new connection; where there are too many, the oldest is closed."""
        self._open = deque(peer for peer in self._open if not peer.closed())
        self._open.append(stream)
        if len(self._open) > OPEN_MAX:
            self._open.popleft().close()
        super().handle_stream(stream, address)
