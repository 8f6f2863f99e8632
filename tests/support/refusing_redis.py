"""Ways in which a Redis takes connections and refuses commands."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from redis import Redis

from support.private_valkey import OwnValkey
from support.worker_processes import wait_until


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


@contextmanager
def read_only(server: OwnValkey) -> Iterator[None]:
    """A replica of a server that is not there, as after a failover."""
    with Redis.from_url(server.url) as redis:
        redis.replicaof("127.0.0.1", 1)
        yield
        redis.replicaof("no", "one")


@contextmanager
def disk_full(server: OwnValkey) -> Iterator[None]:
    """It cannot save, and takes no writes until it can."""
    with Redis.from_url(server.url) as redis:
        (Path(redis.config_get("dir")["dir"]) / redis.config_get("dbfilename")["dbfilename"]).mkdir()
        redis.config_set("save", "3600 1")
        redis.set("chiron:unsaved", 1)
        redis.bgsave()
        wait_until(lambda: redis.info("persistence")["rdb_last_bgsave_status"] == "err", what="a failed save")
        yield
        redis.config_set("stop-writes-on-bgsave-error", "no")


@contextmanager
def memory_full(server: OwnValkey) -> Iterator[None]:
    with Redis.from_url(server.url) as redis:
        redis.config_set("maxmemory", 1)
        yield
        redis.config_set("maxmemory", 0)


@contextmanager
def password_changed(server: OwnValkey) -> Iterator[None]:
    with Redis.from_url(server.url) as redis:
        redis.config_set("requirepass", "secret")
        redis.execute_command("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
        redis.execute_command("CLIENT", "KILL", "TYPE", "PUBSUB", "SKIPME", "YES")
        yield
        redis.config_set("requirepass", "")


@contextmanager
def loading(server: OwnValkey) -> Iterator[None]:
    server.kill()
    with refusing_everything(server.url, "LOADING Redis is loading the dataset in memory"):
        yield
    server.start()


REFUSALS = (read_only, disk_full, memory_full, password_changed, loading)
