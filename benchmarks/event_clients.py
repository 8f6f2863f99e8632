"""Clients of streams of events over bare sockets: little work for each event, so that a thousand fit into one process."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

SEPARATOR = b"\r\n\r\n"
PAUSE_S = 0.2
Receive = Callable[[bytes], None]  # a frame, without the empty line that ends it


class EventClient:
    """One EventSource: it connects again after each end, with the id of the last event, until the answer is 204."""

    def __init__(self, base_url: str, path: str, key: str, receive: Receive) -> None:
        address = urlsplit(base_url)
        self._host, self._port = str(address.hostname), int(address.port or 80)
        self._path, self._key, self._receive = path, key, receive
        self.last_id = ""
        self.connections = 0

    async def follow(self) -> None:
        """Hand on each frame until nothing can follow. Raises ValueError for an answer that no EventSource goes on after."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                if await self._connect() == b"204":
                    return
            await asyncio.sleep(PAUSE_S)

    async def _connect(self) -> bytes:
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=2**20)
        try:
            lines = [
                f"GET {self._path} HTTP/1.0",
                f"Host: {self._host}",
                f"Authorization: Bearer {self._key}",
            ]
            lines += [f"Last-Event-ID: {self.last_id}"] if self.last_id else []
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = await reader.readuntil(SEPARATOR)
            status = head.split(b" ", 2)[1]
            if status == b"200":
                self.connections += 1
                while True:  # ends with the connection
                    self._take((await reader.readuntil(SEPARATOR))[: -len(SEPARATOR)])
            if status not in (b"204", b"503"):  # 503: Postgres is away
                raise ValueError(head.decode(errors="replace"))
            return status
        finally:
            writer.close()

    def _take(self, frame: bytes) -> None:
        if frame.startswith(b"id: "):
            self.last_id = frame[4 : frame.index(b"\r\n")].decode()
        if not frame.startswith(b":"):
            self._receive(frame)


def data_of(frame: bytes) -> bytes:
    """The JSON of an event."""
    return frame[frame.index(b"\r\ndata: ") + 8 :]
