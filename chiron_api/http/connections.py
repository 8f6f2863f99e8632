"""Connections: how many a server holds open, how many of one address, and how long it waits for a request.

uvicorn waits for ever for the rest of a request, and a process that has no file descriptor left answers nobody.
"""

import asyncio
import contextlib
import resource
import socket
from collections import Counter
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

REQUEST_TIMEOUT_S = 20.0  # from the moment that a request is awaited until its headers are complete
UNFINISHED_MAX = 100  # requests of one address that are begun and not complete; the oldest gives way
OPEN_FILES = 4_096  # that the process asks for
OWN_FILES = 256  # of these, for Postgres, Redis, pages and files
BACKLOG = 128  # connections accepted at once, before any of them can be closed


def open_files_max() -> int:
    """Raise the limit of open files as far as it is of use, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wish = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wish:
        with contextlib.suppress(OSError, ValueError):  # Some systems allow less than they say.
            resource.setrlimit(resource.RLIMIT_NOFILE, (wish, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return OPEN_FILES if soft == resource.RLIM_INFINITY else soft


@dataclass(eq=False)
class Room:
    """The connections of one server; the unfinished ones in the order in which their requests were begun.

    `of_one_max` leaves half of the room to other addresses.
    """

    open_max: int = field(default_factory=lambda: max(BACKLOG, open_files_max() - OWN_FILES))
    open: Counter[str] = field(default_factory=Counter)
    unfinished: dict["BoundedProtocol", str] = field(default_factory=dict)
    unfinished_counts: Counter[str] = field(default_factory=Counter)

    def admit(self, address: str) -> bool:
        """Count a new connection. Where there is no room, the oldest unfinished request gives way, if there is one."""
        is_full = self.open.total() >= self.open_max
        is_full_for_one = self.open[address] >= self.open_max // 2
        self.open[address] += 1
        return not (is_full or is_full_for_one) or self._close_oldest(address if is_full_for_one else "")

    def forget(self, protocol: "BoundedProtocol", address: str) -> None:
        """Count a connection no longer."""
        self.settle(protocol)
        self.open[address] -= 1
        self.open += Counter()  # without addresses that have none

    def expect(self, protocol: "BoundedProtocol", address: str) -> None:
        """Begin to wait for a request."""
        self.unfinished[protocol] = address
        self.unfinished_counts[address] += 1
        if self.unfinished_counts[address] > UNFINISHED_MAX:
            self._close_oldest(address)

    def settle(self, protocol: "BoundedProtocol") -> None:
        """The request is complete, or given up."""
        address = self.unfinished.pop(protocol, None)
        if address is not None:
            self.unfinished_counts[address] -= 1
            self.unfinished_counts += Counter()

    def _close_oldest(self, address: str = "") -> bool:
        oldest = next((peer for peer, owner in self.unfinished.items() if address in ("", owner)), None)
        if oldest is None:
            return False
        self.settle(oldest)
        oldest.transport.abort()
        return True


_rooms: WeakKeyDictionary[ServerState, Room] = WeakKeyDictionary()


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a limit on open connections and on the time that a request may take to arrive."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or hang up where there is no room."""
        super().connection_made(transport)
        _send_at_once(transport)
        self._room = _rooms.setdefault(self.server_state, Room())
        self._address = self.client[0] if self.client else ""
        if self._room.admit(self._address):
            self._expect()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        self._stop_waiting()
        self._room.forget(self, self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait no longer once the headers are complete, and count the request until its body is."""
        super().data_received(data)
        if self._is_handling():
            self._stop_waiting()
            if not self.cycle.more_body:
                self._room.settle(self)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._room.settle(self)
        if not self.transport.is_closing():
            self._expect()
        super().on_response_complete()
        if self._is_handling():  # a request that was sent behind the one before
            self._stop_waiting()
            self._room.settle(self)

    def _is_handling(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.abort)
        self._room.expect(self, self._address)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _send_at_once(transport: asyncio.Transport) -> None:
    """Send the body of an answer before its headers are acknowledged, which clients put off for 40 ms.

    asyncio does so by itself only where the listening socket names TCP, which `socket.create_server` leaves out.
    """
    with contextlib.suppress(OSError):  # The client may be gone.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
