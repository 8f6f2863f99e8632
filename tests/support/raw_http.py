"""A server that keeps each request as its bytes came, and answers with bytes that a test writes."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
Answer = Callable[["RawRequest"], bytes]


@dataclass(frozen=True)
class RawRequest:
    """The bytes of one request."""

    head: bytes
    body: bytes

    @property
    def line(self) -> bytes:
        """Method, target and version."""
        return self.head.split(b"\r\n", 1)[0]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names in lower case, with their values, in their order."""
        lines = self.head.decode().split("\r\n")[1:]
        return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]


@dataclass
class RawServer:
    """Its address and what it has heard."""

    url: str = ""
    requests: list[RawRequest] = field(default_factory=list)


@asynccontextmanager
async def raw_server(answer: Answer) -> AsyncIterator[RawServer]:
    """Serve while the block runs; each answer ends its connection, unless it is empty: then the server is silent."""
    server = RawServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            request = RawRequest(head, body)
            server.requests.append(request)
            if response := answer(request):
                writer.write(response)
                await writer.drain()
            else:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield server


def response(
    body: bytes, *, status: int = 200, type: str = "application/json", headers: dict[str, str] | None = None
) -> bytes:
    """An answer whose length is stated."""
    lines = {"content-type": type, "content-length": str(len(body)), "connection": "close", **(headers or {})}
    head = f"HTTP/1.1 {status} Scripted\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in lines.items()
    )
    return head.encode() + b"\r\n" + body
