"""A Redis that answers each command with the same error, as one does that is still loading."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def refusing_everything(url: str, error: str) -> Iterator[None]:
    """Serve at the address until the block ends, in a thread of its own."""
    is_up, loop = threading.Event(), asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readline():
                for _ in range(int(head[1:])):
                    await reader.readline()
                    await reader.readline()
                writer.write(f"-{error}\r\n".encode())
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def serve() -> None:
        parts = urlsplit(url)
        server = await asyncio.start_server(answer, parts.hostname, parts.port)
        is_up.set()
        async with server:
            await is_over.wait()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    is_over = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert is_up.wait(30)
        yield
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(30)
        loop.close()
