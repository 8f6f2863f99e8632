"""A way to Postgres that counts what goes over it: statements, and times that a client waits for an answer."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

CHUNK_BYTES = 65_536
STATEMENTS = (b"E", b"Q")  # messages that execute: of the extended protocol, and of the simple one
HEADER_BYTES = 5


class Relay:
    """Passes bytes on between clients and the server of a URL. A context manager; `url` leads through it."""

    def __init__(self, database_url: str) -> None:
        self._target = conninfo_to_dict(database_url)
        self._round_trips = 0
        self._statements = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        # Without TLS, so that the first message is the one that opens the session.
        way = {"host": "127.0.0.1", "port": port, "sslmode": "disable", "gssencmode": "disable"}
        self.url = make_conninfo("", **self._target | way)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def counts(self) -> tuple[int, int]:
        """Statements and round trips so far."""
        return self._statements, self._round_trips

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = f"{self._target['host']}/.s.PGSQL.{self._target.get('port') or 5432}"
        server_reader, server_writer = await asyncio.open_unix_connection(target)
        conversation = Conversation()

        async def pass_on(
            source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_client: bool
        ) -> None:
            with suppress(ConnectionError):
                while chunk := await source.read(CHUNK_BYTES):
                    if is_client:
                        statements, is_new = conversation.sent(chunk)
                        self._statements += statements
                        self._round_trips += is_new
                    else:
                        conversation.is_answered = True
                    sink.write(chunk)
                    await sink.drain()
            sink.close()

        for task in (
            asyncio.create_task(pass_on(reader, server_writer, is_client=True)),
            asyncio.create_task(pass_on(server_reader, writer, is_client=False)),
        ):
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


class Conversation:
    """Reads the messages of one client, which may come in pieces."""

    def __init__(self) -> None:
        self._rest = b""
        self._is_started = False
        self.is_answered = True

    def sent(self, chunk: bytes) -> tuple[int, bool]:
        """How many statements end in a chunk, and whether it is the first since an answer."""
        is_new, self.is_answered = self.is_answered, False
        self._rest += chunk
        statements = 0
        while len(self._rest) >= HEADER_BYTES:
            header = 1 if self._is_started else 0  # the first message has no letter
            size = header + int.from_bytes(self._rest[header : header + 4])
            if len(self._rest) < size:
                break
            statements += self._is_started and self._rest[:1] in STATEMENTS
            self._is_started = True
            self._rest = self._rest[size:]
        return statements, is_new
