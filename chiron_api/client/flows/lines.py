"""Lines and server-sent events out of pieces of a body."""

from collections.abc import Iterator
from dataclasses import dataclass

from chiron_api.client.errors import Unreadable

LINE_BYTES_MAX = 64 * 1024 * 1024


class Lines:
    """Whole lines of a body that comes in pieces, without their ends (`\\n` or `\\r\\n`)."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that the piece completes. Raises Unreadable for one of more than 64 MiB."""
        self._rest += chunk
        if b"\n" not in chunk:
            if len(self._rest) > LINE_BYTES_MAX:
                raise Unreadable(f"The server sends a line of more than {LINE_BYTES_MAX:,} bytes.")
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return [line.removesuffix(b"\r") for line in lines]


@dataclass(frozen=True, slots=True)
class Frame:
    """A server-sent event; `id` is None where it has none."""

    id: str | None
    data: bytes


class Frames:
    """The whole server-sent events of a body that comes in pieces; what is cut off within one is none."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._id: str | None = None
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The events that the piece completes. Comments and empty events are left out."""
        for line in self._lines.feed(chunk):
            if not line:
                if self._data:
                    yield Frame(self._id, b"\n".join(self._data))
                self._id, self._data = None, []
                continue
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"id" and b"\0" not in value:
                self._id = value.decode(errors="replace")
