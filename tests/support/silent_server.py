"""A server that accepts connections and says nothing, as one does whose processes stand still."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class SilentServer:
    """Counts connections: how many there were, how many are open, and how many were as each of them came."""

    port: int = 0
    open: int = 0
    open_at_arrivals: list[int] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read until the client hangs up."""
        self.open += 1
        self.open_at_arrivals.append(self.open)
        try:
            while await reader.read(65_536):
                pass
        except OSError:  # It was reset.
            pass
        finally:
            self.open -= 1
            writer.close()

    async def come(self, connections: int) -> None:
        """Wait until so many connections were made."""
        while len(self.open_at_arrivals) < connections:
            await asyncio.sleep(0.01)

    async def empty(self) -> None:
        """Wait until no connection is open."""
        try:
            async with asyncio.timeout(20):
                while self.open:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{self.open} connections are still open") from None


@asynccontextmanager
async def silent_server() -> AsyncIterator[SilentServer]:
    """A server on a free port of loopback."""
    silent = SilentServer()
    server = await asyncio.start_server(silent.serve, "127.0.0.1", 0)
    silent.port = server.sockets[0].getsockname()[1]
    try:
        yield silent
    finally:
        server.close()
