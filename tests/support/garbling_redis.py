"""A Redis that breaks its connections at a chosen byte, or garbles what it answers there, and then serves well."""

import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO
from uuid import UUID

GOOD = UUID(int=1)  # published by a connection without a fault
BAD = UUID(int=2)  # published by one with a fault, before or after it
HELLO = b"%1\r\n$5\r\nproto\r\n:3\r\n"
REFUSED = b"-ERR unknown subcommand\r\n"
TIME = b"*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"
COOLDOWNS = b"*1\r\n*2\r\n$5\r\nmodel\r\n,1700000030\r\n"
LAST = ("SUBSCRIBE", "ZRANGE", "EVAL", "SET")  # the last commands of connections


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of a connection once it has answered so many bytes.

    Attributes:
        garble: Sent in place of the next byte.
        is_reset: Whether the connection is reset rather than ended.
    """

    after_bytes: int
    garble: bytes = b""
    is_reset: bool = False


@dataclass(frozen=True, slots=True)
class OddReply:
    """A command that is answered with something else; its connection is ended then."""

    command: str
    reply: bytes


class GarblingRedis:
    """Each connection takes the next of `faults`; those that come after the last one are served well."""

    def __init__(self, faults: Iterable[Fault | OddReply]) -> None:
        self.faults = deque(faults)
        self.connections = 0
        self._server = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"redis://127.0.0.1:{self._server.getsockname()[1]}"

    def serve(self) -> None:
        """Accept until `close`."""
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            fault = self.faults.popleft() if self.faults else None
            threading.Thread(target=self._answer_all, args=(connection, fault), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _answer_all(self, connection: socket.socket, fault: Fault | OddReply | None) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        position, is_over = 0, False
        with connection, connection.makefile("rb") as requests, suppress(OSError):  # The client may hang up.
            while not is_over and (command := _read_command(requests)):
                reply = _reply(command, GOOD if fault is None else BAD)
                is_over = fault is not None and command[0] in LAST
                if isinstance(fault, OddReply) and command[0] == fault.command:
                    reply, is_over = fault.reply, True
                elif isinstance(fault, Fault) and position + len(reply) > fault.after_bytes:
                    reply, is_over = _cut(reply, fault.after_bytes - position, fault.garble), True
                connection.sendall(reply)
                position += len(reply)
            if isinstance(fault, Fault) and fault.is_reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _cut(reply: bytes, position: int, garble: bytes) -> bytes:
    return reply[:position] + (garble + reply[position + 1 :] if garble else b"")


def _read_command(requests: IO[bytes]) -> list[str]:
    words = []
    for _ in range(int(requests.readline()[1:] or 0)):
        length = int(requests.readline()[1:])
        words.append(requests.read(length + 2)[:length].decode())
    return words


def _reply(command: list[str], target: UUID) -> bytes:
    match command[0]:
        case "PING":
            return b"+PONG\r\n"
        case "HELLO":
            return HELLO
        case "CLIENT":
            return b"+OK\r\n" if command[1] == "SETINFO" else REFUSED
        case "TIME":
            return TIME
        case "ZRANGE":
            return COOLDOWNS
        case "EVAL":
            counts = 2 * len(command[3:]) // 3  # two channels for each event
            return f"*{counts}\r\n".encode() + b":1\r\n" * counts
        case "SUBSCRIBE":
            channels = command[1:]
            return b"".join(
                _push("subscribe", channel) + f":{number}\r\n".encode()
                for number, channel in enumerate(channels, 1)
            ) + _push("message", channels[0], str(target))
        case _:
            return b"+OK\r\n"


def _push(*words: str) -> bytes:
    return b">3\r\n" + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)


@contextmanager
def garbling_redis(faults: Iterable[Fault | OddReply]) -> Iterator[GarblingRedis]:
    """Serves on a free port of loopback until the block ends, in threads of its own."""
    server = GarblingRedis(faults)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(30)
