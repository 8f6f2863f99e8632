"""What both shells have in common of HTTP: the request of a step, the options of a client, and what a failure means."""

from collections.abc import Mapping
from typing import Any

import httpx2

from chiron_api.client.errors import Unreadable
from chiron_api.client.flows.steps import Cut, Send
from chiron_api.client.server import Server

CONNECT_S = 10.0
SILENCE_S = 60.0  # of a stream, in which a comment comes every 15 s
ANSWER_BYTES_MAX = 1024 * 1024 * 1024
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
FAILURES = (httpx2.RequestError, httpx2.InvalidURL)


def client_options(server: Server) -> dict[str, Any]:
    """What an httpx2 client is made with."""
    headers = {"User-Agent": "chiron-client"}
    if server.key:
        headers["Authorization"] = f"Bearer {server.key}"
    # A proxy of the environment is for the world outside, and must not see the key of this machine.
    return {"headers": headers, "trust_env": not server.is_local}


def request_options(step: Send, server: Server, timeout_s: float) -> dict[str, Any]:
    """What the request of a step is built with."""
    call = step.call
    read_s = SILENCE_S if step.is_stream else timeout_s
    options: dict[str, Any] = {
        "method": call.method,
        "url": f"{server.address}{call.location}",
        "headers": {**call.headers, **step.headers},
        "timeout": httpx2.Timeout(timeout_s, connect=CONNECT_S, read=read_s),
    }
    if call.content is not None:
        return options | {"content": call.content}
    return options if call.body is None else options | {"json": call.document}


def cut_of(error: Exception) -> Cut:
    """What a failure of httpx2 means for a flow."""
    return Cut(str(error) or type(error).__name__, is_unsent=isinstance(error, UNSENT))


def lower_names(headers: httpx2.Headers) -> Mapping[str, str]:
    """Headers with their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


class Body:
    """A whole body that comes in pieces; bounded."""

    def __init__(self) -> None:
        self._pieces = bytearray()

    def add(self, piece: bytes) -> None:
        """Raises Unreadable where it becomes more than 1 GiB."""
        self._pieces += piece
        if len(self._pieces) > ANSWER_BYTES_MAX:
            raise Unreadable(f"The server answers with more than {ANSWER_BYTES_MAX:,} bytes.")

    def content(self) -> bytes:
        """All of it."""
        return bytes(self._pieces)
