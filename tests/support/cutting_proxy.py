"""A way to a server on loopback that can be cut, and that goes on to another server after a restart."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

CHUNK_BYTES = 4_096


class CuttingProxy:
    """Passes bytes on to `upstream`, a port of loopback, and cuts what a test says."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.address = ""
        self.answers_to_drop = 0  # the server gets the request, and nobody the answer
        self.bytes_before_cut: Callable[[], int] | None = None  # of what each connection carries back
        self.connections = 0
        self.cuts = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def hang_up(self) -> None:
        """End the connections that are open."""
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        self.connections += 1
        upstream: asyncio.StreamWriter | None = None
        try:
            back, upstream = await asyncio.open_connection("127.0.0.1", self.upstream)
            self._writers.add(upstream)
            async with asyncio.TaskGroup() as group:
                group.create_task(_forth(reader, upstream))
                group.create_task(self._back(back, writer))
        except* (OSError, EOFError):  # one of the two ends is gone, or the way was cut
            pass
        finally:
            for each in (writer, upstream):
                if each is not None:
                    self._writers.discard(each)
                    each.close()
                    with suppress(OSError):
                        await each.wait_closed()
            self._tasks.discard(task)

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        rest = self.bytes_before_cut() if self.bytes_before_cut else None
        while data := await reader.read(CHUNK_BYTES):
            if self.answers_to_drop:
                self.answers_to_drop -= 1
                self._cut()
            writer.write(data if rest is None else data[:rest])
            await writer.drain()
            if rest is not None:
                rest -= len(data)
                if rest <= 0:
                    self._cut()
        raise EOFError

    def _cut(self) -> None:
        self.cuts += 1
        raise EOFError


async def _forth(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK_BYTES):
        writer.write(data)
        await writer.drain()
    raise EOFError


@asynccontextmanager
async def cutting_proxy(upstream: int) -> AsyncIterator[CuttingProxy]:
    """A way to a port until the block ends."""
    proxy = CuttingProxy(upstream)
    server = await proxy.start()
    try:
        yield proxy
    finally:
        server.close()
        await proxy.hang_up()
        with suppress(OSError):
            await server.wait_closed()
