"""A proxy on loopback between clients and a service: it speaks TLS for the service, and cuts the connections."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import StrEnum
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from support.certificates import Certificate
from support.loop_thread import loop_thread

CHUNK_BYTES = 65_536
SSL_REQUEST_BYTES = 8  # what a client of Postgres sends first, to be answered with S


class Partition(StrEnum):
    """How a proxy is cut off from its service."""

    REFUSED = "connections are reset, and new ones too"
    SILENT = "what is sent is held, and arrives after the cut"
    LOST = "what is sent is lost, and the connections are reset after the cut"


class Proxy:
    """Carries bytes between clients and `upstream`; `open_proxy` and `threaded_proxy` start one.

    Attributes:
        upstream: A port of loopback, or the path of a Unix socket; a change holds for new connections.
        answers_to_drop: How many answers to drop; each drop ends its connection, after the service has got the request.
        answers_to_pass: How many answers to pass before the first drop.
        bytes_before_cut: After how many bytes of answers to end a new connection; None: never.
        connections: How many connections clients have opened, refused ones included.
        cuts: How many connections these options have ended.
    """

    def __init__(self, upstream: int | str, *, certificate: Certificate | None, is_postgres: bool) -> None:
        self.upstream = upstream
        self.answers_to_drop = 0
        self.answers_to_pass = 0
        self.bytes_before_cut: Callable[[], int] | None = None
        self.connections = 0
        self.cuts = 0
        self.port = 0
        self._context = certificate.context() if certificate else None
        self._is_postgres = is_postgres
        self._partition: Partition | None = None
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def postgres_url(self, database_url: str, *, host: str = "127.0.0.1", **parameters: object) -> str:
        """The URL of the same database through the proxy, with parameters of libpq."""
        parts = conninfo_to_dict(database_url)
        return f"postgresql://{parts['user']}@{host}:{self.port}/{parts['dbname']}?{urlencode(parameters)}"

    async def start(self, port: int = 0) -> asyncio.Server:
        # A client of Postgres asks for TLS before it begins with it.
        context = None if self._is_postgres else self._context
        server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def cut(self, partition: Partition) -> None:
        self._partition = partition
        self._is_open.clear()
        if partition is Partition.REFUSED:
            self.reset()

    async def heal(self) -> None:
        partition, self._partition = self._partition, None
        if partition is Partition.LOST:
            self.reset()
        self._is_open.set()

    def reset(self) -> None:
        """Reset the connections that are open."""
        for writer in self._writers:
            writer.transport.abort()

    async def reset_now(self) -> None:
        """The same, for those who call it from another thread."""
        self.reset()

    async def close(self) -> None:
        """Reset the connections and wait until their handlers have ended."""
        await self.heal()
        self.reset()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._partition is Partition.REFUSED:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        writers = [writer]
        self._writers.add(writer)
        try:
            await self._is_open.wait()
            if self._is_postgres and self._context:
                await reader.readexactly(SSL_REQUEST_BYTES)
                writer.write(b"S")
                await writer.start_tls(self._context)
            answers, upstream = await self._connect()
            writers.append(upstream)
            self._writers.add(upstream)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(reader, upstream))
                group.create_task(self._carry_answers(answers, writer))
        except* (OSError, EOFError):  # one of the two ends is gone, or the connection was cut
            pass
        finally:
            for each in writers:
                each.close()
                with suppress(OSError):
                    await each.wait_closed()
                self._writers.discard(each)
            self._tasks.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.upstream, str):
            return await asyncio.open_unix_connection(self.upstream)
        return await asyncio.open_connection("127.0.0.1", self.upstream)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            await self._is_open.wait()
            writer.write(data)
            await writer.drain()
        raise EOFError

    async def _carry_answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        bytes_left = self.bytes_before_cut() if self.bytes_before_cut else None
        while data := await reader.read(CHUNK_BYTES):
            await self._is_open.wait()
            if self.answers_to_drop and self.answers_to_pass:
                self.answers_to_pass -= 1
            elif self.answers_to_drop:
                self.answers_to_drop -= 1
                self._cut()
            writer.write(data[:bytes_left])
            await writer.drain()
            if bytes_left is not None:
                bytes_left -= len(data)
                if bytes_left <= 0:
                    self._cut()
        raise EOFError

    def _cut(self) -> None:
        self.cuts += 1
        raise EOFError


def socket_of(database_url: str) -> str:
    """The path of the Unix socket that a database's URL means."""
    parts = conninfo_to_dict(database_url)
    return f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"


@asynccontextmanager
async def open_proxy(
    upstream: int | str,
    *,
    certificate: Certificate | None = None,
    is_postgres: bool = False,
    port: int = 0,
) -> AsyncIterator[Proxy]:
    """A proxy that listens until the block ends.

    Args:
        upstream: A port of loopback, or the path of a Unix socket.
        certificate: What it shows its clients; without one it speaks no TLS.
        is_postgres: Whether clients ask for TLS as Postgres' do, rather than begin with it.
        port: Where it listens; 0: on a free port.
    """
    proxy = Proxy(upstream, certificate=certificate, is_postgres=is_postgres)
    server = await proxy.start(port)
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()


@contextmanager
def threaded_proxy(
    upstream: int | str, *, certificate: Certificate | None = None, is_postgres: bool = False
) -> Iterator[Proxy]:
    """The same in a thread of its own, for tests that block their event loop."""
    with (
        loop_thread() as loop,
        loop.entered(open_proxy(upstream, certificate=certificate, is_postgres=is_postgres)) as proxy,
    ):
        yield proxy
