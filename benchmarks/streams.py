"""How soon a committed event reaches those who watch: `uv run python benchmarks/streams.py [--streams 1 100 1000] [--json FILE]`.

A process has the HTTP API, another all clients, and this one commits and publishes events at a steady rate. Beside it, in the
same run, Redis alone: each event is committed alike and published to as many bare subscribers in the same process of clients.
"""

import argparse
import asyncio
import multiprocessing
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from urllib.parse import urlsplit
from uuid import UUID

import psutil
from cpu import cpu_of, load_average, spent
from event_clients import EventClient, data_of
from figures import begin, table
from psycopg.types.json import Json
from redis.asyncio import Redis
from services import Services, services

from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import free_port
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, fetch_all, open_pool
from chiron_workers.db.queries import load
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.runs.events import Event

SQL = load(__file__)
RUNS = 20
OPEN_FILES = 8_192
PATIENCE_S = 180.0
CHANNEL = "benchmark:bare"
MARK = b'"n": '
Times = dict[int, list[float]]  # when each event came, at each client


@dataclass(frozen=True, slots=True)
class Measurement:
    """Milliseconds from commit to client of each event at each client, and what it cost the API."""

    ms: list[float]
    cpu_share: float = 0.0
    kb_per_stream: float = 0.0


async def measure_api(at: Services, *, streams: int, rate: float, seconds: float) -> Measurement:
    """Streams of one batch over HTTP."""
    async with open_pool(at.settings.database_url, size=4) as pool:
        topics = [NewRun(f"topic {n}", "research", "Benchmark", "offline", 10) for n in range(RUNS)]
        batch = await submit(pool, NewBatch(topics, "Benchmark"))
        with _api(at) as (url, process):
            await _answer(url)
            rss = process.memory_info().rss
            path = f"/v1/batches/{batch.batch_id}/events"
            with _clients(_follow, url, path, api_key(at.settings), streams) as pipe:
                await _received(pipe)
                rss = process.memory_info().rss - rss
                publisher, cpu = Publisher(at.settings.redis_url), cpu_of(process)
                began = time.monotonic()
                commits = {}
                async for n, event, committed_at in _events(pool, batch.run_ids, rate=rate, seconds=seconds):
                    commits[n] = committed_at
                    publisher.publish(event)
                cpu_share = spent(cpu, cpu_of(process)) / (time.monotonic() - began)
                await publisher.close()
                await fetch_all(pool, SQL["finish"], {"batch_id": batch.batch_id})
                times = await _received(pipe)
    return Measurement(_delays(commits, times, streams), cpu_share, rss / streams / 1024)


async def measure_redis(at: Services, *, streams: int, rate: float, seconds: float) -> Measurement:
    """Bare subscribers of one channel, each with a connection of its own."""
    async with (
        open_pool(at.settings.database_url, size=4) as pool,
        Redis.from_url(at.settings.redis_url) as redis,
    ):
        topics = [NewRun(f"topic {n}", "research", "Benchmark", "offline", 10) for n in range(RUNS)]
        batch = await submit(pool, NewBatch(topics, "Benchmark"))
        with _clients(_subscribe, at.settings.redis_url, int(rate * seconds), streams) as pipe:
            await _received(pipe)
            commits = {}
            async for n, event, committed_at in _events(pool, batch.run_ids, rate=rate, seconds=seconds):
                commits[n] = committed_at
                await redis.publish(CHANNEL, event.to_json())
            times = await _received(pipe)
    return Measurement(_delays(commits, times, streams))


async def _events(
    pool: Pool, run_ids: Sequence[UUID], *, rate: float, seconds: float
) -> AsyncIterator[tuple[int, Event, float]]:
    begin_at = time.monotonic()
    for n in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begin_at + n / rate - time.monotonic()))
        args = {"run_id": run_ids[n % RUNS], "data": Json({"n": n, "text": "x" * 200})}
        [row] = await fetch_all(pool, SQL["happen"], args)
        yield n, Event(**row), time.time()


def _delays(commits: dict[int, float], times: Times, streams: int) -> list[float]:
    assert all(len(times[n]) == streams for n in commits), "an event is missing or came twice"
    return [(at - commits[n]) * 1_000 for n in commits for at in times[n]]


@contextmanager
def _api(at: Services) -> Iterator[tuple[str, psutil.Process]]:
    port = free_port()
    command = [sys.executable, "-m", "chiron_api", "api", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=at.folder) as process:
        try:
            yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
        finally:
            process.terminate()


async def _answer(url: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not _is_open(int(urlsplit(url).port or 0)):  # noqa: ASYNC110  # what is awaited happens in another process
            await asyncio.sleep(0.1)


def _is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _clients(target: object, *args: object) -> Iterator[Connection]:
    """A process of clients; it says when all are there, and at the end when each event came."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs, target, args))
    process.start()
    try:
        yield ours
    finally:
        process.terminate()
        process.join()


async def _received(pipe: Connection) -> Times:
    if not await asyncio.to_thread(pipe.poll, PATIENCE_S):
        raise TimeoutError("the clients do not get what was sent")
    times: Times = pipe.recv()
    return times


def _run(pipe: Connection, target: object, args: tuple[object, ...]) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))
    assert callable(target)
    asyncio.run(target(pipe, *args))


def _note(times: Times, data: bytes) -> None:
    start = data.find(MARK)
    if start >= 0:
        number = int(data[start + len(MARK) : data.index(b",", start)])
        times.setdefault(number, []).append(time.time())


async def _follow(pipe: Connection, url: str, path: str, key: str, streams: int) -> None:
    times: Times = {}
    is_there = asyncio.Semaphore(0)
    firsts = streams * RUNS  # each stream begins with the first event of each run

    def receive(frame: bytes) -> None:
        data = data_of(frame)
        _note(times, data)
        if b"run.queued" in data:
            is_there.release()

    tasks = [asyncio.create_task(EventClient(url, path, key, receive).follow()) for _ in range(streams)]
    for _ in range(firsts):
        await is_there.acquire()
    pipe.send({})
    await asyncio.gather(*tasks)
    pipe.send(times)


async def _subscribe(pipe: Connection, url: str, events: int, streams: int) -> None:
    times: Times = {}
    address = urlsplit(url)
    is_there = asyncio.Semaphore(0)

    async def listen() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(f"SUBSCRIBE {CHANNEL}\r\n".encode())
        await reader.readuntil(b":1\r\n")
        is_there.release()
        for _ in range(events):
            _note(times, await reader.readuntil(b"}\r\n"))
        writer.close()

    tasks = [asyncio.create_task(listen()) for _ in range(streams)]
    for _ in range(streams):
        await is_there.acquire()
    pipe.send({})
    await asyncio.gather(*tasks)
    pipe.send(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 100, 1_000])
    parser.add_argument("--rate", type=float, default=5.0, help="Events a second.")
    parser.add_argument("--seconds", type=float, default=20.0)
    with begin(parser) as (arguments, report), services() as at:
        size = {"rate": arguments.rate, "seconds": arguments.seconds}
        rows = []
        for streams in arguments.streams:
            http = asyncio.run(measure_api(at, streams=streams, **size))
            bare = asyncio.run(measure_redis(at, streams=streams, **size))
            report.figures[f"{streams} streams"] = [{"ms": round(ms, 2)} for ms in _percentiles(http.ms)]
            report.figures[f"{streams} subscribers"] = [{"ms": round(ms, 2)} for ms in _percentiles(bare.ms)]
            shown = [f"{ms:.1f}" for ms in (*_percentiles(http.ms), *_percentiles(bare.ms))]
            rows.append([f"{streams:,}", *shown, f"{http.cpu_share:.0%}", f"{http.kb_per_stream:.0f}"])
        title = f"Commit to client, ms; {arguments.rate:g} events a second, load {load_average()}"
        columns = ["streams", "p50", "p99", "Redis alone p50", "p99", "CPU of the API", "KB a stream"]
        table(title, columns, rows)


def _percentiles(ms: Sequence[float]) -> tuple[float, float]:
    percentiles = statistics.quantiles(ms, n=100, method="inclusive")
    return percentiles[49], percentiles[98]


if __name__ == "__main__":
    main()
