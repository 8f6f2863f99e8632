"""A way to Postgres that can be cut: a TCP proxy on loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum

from psycopg.conninfo import conninfo_to_dict

CHUNK_BYTES = 65_536
PORT = 5432


class Partition(StrEnum):
    """How a way is cut."""

    REFUSED = "connections are reset, and new ones too"
    SILENT = "what is sent arrives when the way is back"
    LOST = "what is sent is lost, and the connections are reset when the way is back"


class PostgresProxy:
    """Passes bytes on until the way is cut, and again once it is back."""

    def __init__(self, database_url: str) -> None:
        self._target = conninfo_to_dict(database_url)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._partition: Partition | None = None
        self.url = ""

    async def start(self, name: str) -> asyncio.Server:
        """Listen; Postgres shows connections of this way under the name."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        address = f"{self._target['user']}@127.0.0.1:{port}/{self._target['dbname']}"
        self.url = f"postgresql://{address}?application_name={name}"
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
        for writer in self._writers:
            writer.transport.abort()

    async def close(self) -> None:
        self._partition = None
        self._is_open.set()
        self.reset()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._partition is Partition.REFUSED:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        upstream: asyncio.StreamWriter | None = None
        try:
            await self._is_open.wait()
            back, upstream = await self._connect()
            self._writers.add(upstream)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_on(reader, upstream))
                group.create_task(self._pass_on(back, writer))
        except* OSError:  # one of the two ends is gone
            pass
        finally:
            for each in (writer, upstream):
                if each is not None:
                    each.transport.abort()
                    self._writers.discard(each)
            self._tasks.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = str(self._target.get("host") or "127.0.0.1"), int(self._target.get("port") or PORT)
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            await self._is_open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError("one end is closed")


@asynccontextmanager
async def postgres_proxy(database_url: str, name: str) -> AsyncIterator[PostgresProxy]:
    """A way to the database until the block ends."""
    proxy = PostgresProxy(database_url)
    server = await proxy.start(name)
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        with contextlib.suppress(OSError):
            await server.wait_closed()
