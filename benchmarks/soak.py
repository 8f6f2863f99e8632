"""Whether a stack that is disturbed keeps what it holds flat: `uv run python benchmarks/soak.py [--minutes 20] [--json FILE]`.

`chiron up` with two workers, API and Flower plays small batches of real turns that are submitted over HTTP, while streams of
events open and close. A worker is killed now and then, and Postgres is taken away for some seconds. Every ten seconds all
descriptors, connections and memory are counted. Exits with 1 if descriptors or connections have grown.
"""

import argparse
import asyncio
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import psycopg
from cpu import load_average
from event_clients import EventClient
from figures import Figures, begin, table
from footprints import POINTS_MIN, Footprints, measures_of
from redis.asyncio import Redis
from redis.exceptions import RedisError
from services import model_server, variables
from work import REAL

from chiron_api.client import AsyncChiron, ChironError
from chiron_api.local_stack.access import api_key, flower_password
from chiron_api.local_stack.ports import free_port
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.stack import LocalStack
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings, read_settings, settings

SQL = load(__file__)
MODEL = "claude-opus-5-5"
WORKERS, SLOTS = 2, 10
LIVING, VICTIM = "worker-1", "worker-2"  # the one that is never killed shows what outages leave behind
OPEN_BATCHES, RUNS, TURNS, LATENCY_MS, REPLY_CHARS = 2, 3, 8, 1_000, 400
STREAMS, STREAM_S = 8, (0.2, 6.0)
AT_ONCE = 24
KILL_EVERY_S, OUTAGE_EVERY_S, FROZEN_S = 100.0, 150.0, 10.0
JUDGED_MINUTES = 2  # in a shorter time pools are still filling
WARM_UP_SHARE = 0.15  # of the time: pools fill, models load
ANSWER_S = 20.0  # of what is asked beside; a frozen Postgres answers nothing
SETTLED_S, SETTLED_SHARE = (
    45.0,
    0.1,
)  # after a kill, until the worker in the place of the killed one has filled its pools
BACK_S = 60  # for Postgres to come back after the last outage
OUTCOMES = (OSError, ChironError, httpx2.HTTPError, psutil.Error, psycopg.Error, RedisError, ValueError)


@dataclass(slots=True)
class Soak:
    """A stack under load, and what was seen of it. What stops Postgres and what counts take turns at `at_postgres`."""

    stack: LocalStack
    settings: Settings
    minutes: float
    every_s: float
    chance: random.Random
    footprints: Footprints = field(default_factory=Footprints)
    events: Counter[str] = field(default_factory=Counter)
    at_postgres: asyncio.Lock = field(default_factory=asyncio.Lock)
    batches: list[str] = field(default_factory=list)
    began_at: float = field(default_factory=time.monotonic)
    killed_at: float = -math.inf

    @property
    def api_url(self) -> str:
        """Where the API is."""
        return f"http://127.0.0.1:{self.settings.api_port}"

    async def play(self) -> None:
        """Load and disturb the stack until the time is up."""
        seconds = 60 * self.minutes
        work = [self._submit, self._look, self._kill, self._outage, *[self._stream] * STREAMS]
        tasks = [asyncio.create_task(_repeat(each, self.events)) for each in work]
        tasks.append(asyncio.create_task(self._sample_until(seconds)))
        try:
            await asyncio.wait(tasks, timeout=seconds + 120, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            endings = await asyncio.gather(*tasks, return_exceptions=True)
        for ending in endings:
            if isinstance(ending, Exception):
                raise ending

    async def _submit(self) -> None:
        """Have as many small batches open as there should be."""
        if await self._value("open_batches") < OPEN_BATCHES:
            async with asyncio.timeout(ANSWER_S), AsyncChiron(self.api_url, api_key(self.settings)) as chiron:
                topics = [f"soak {self.events['batches']} topic {n}" for n in range(RUNS)]
                receipt = await chiron.submit(topics, subject="Soak", model=MODEL, max_turns=2 * TURNS)
            self.batches.append(str(receipt.batch_id))
            self.events["batches"] += 1
        await asyncio.sleep(1)

    async def _stream(self) -> None:
        """Follow one of the newest batches for a while, and leave in the midst of it."""
        if self.batches:
            batch_id = self.chance.choice(self.batches[-OPEN_BATCHES:])
            path, key = f"/v1/batches/{batch_id}/events", api_key(self.settings)
            client = EventClient(self.api_url, path, key, lambda _: self.events.update(["events"]))
            self.events["streams"] += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(self.chance.uniform(*STREAM_S)):
                    await client.follow()
        await asyncio.sleep(self.chance.uniform(0.1, 0.5))

    async def _look(self) -> None:
        """Read what people and Prometheus read."""
        bearer = {"Authorization": f"Bearer {api_key(self.settings)}"}
        flower = f"http://127.0.0.1:{self.settings.flower_port}"
        async with httpx2.AsyncClient(timeout=ANSWER_S) as client:
            # Many at once, so that the pool of the API is as large in the beginning as it becomes.
            pages = ["/readyz", "/metrics", *["/v1/batches"] * AT_ONCE]
            await asyncio.gather(*(client.get(f"{self.api_url}{page}", headers=bearer) for page in pages))
            for path in ("/api/workers", "/metrics"):
                await client.get(f"{flower}{path}", auth=("chiron", flower_password(self.settings)))
        self.events["looks"] += 1
        await asyncio.sleep(self.chance.uniform(1, 3))

    async def _kill(self) -> None:
        """Kill a worker, which the supervisor starts again."""
        await asyncio.sleep(KILL_EVERY_S * min(1.0, self.minutes / 5) * self.chance.uniform(0.7, 1.3))
        for part in self.stack.parts():
            if part.name == VICTIM and part.pid:
                os.kill(part.pid, signal.SIGKILL)
                self.events["kills"] += 1
                self.killed_at = time.monotonic()

    async def _outage(self) -> None:
        """Have Postgres stand still for a while, or restart it, by turns."""
        await asyncio.sleep(OUTAGE_EVERY_S * min(1.0, self.minutes / 5) * self.chance.uniform(0.7, 1.3))
        [postgres] = [part.pid for part in self.stack.parts() if part.kind is Kind.POSTGRES]
        async with self.at_postgres:
            self.events["outages"] += 1
            if self.events["outages"] % 2:
                with _frozen(psutil.Process(postgres)):
                    await asyncio.sleep(FROZEN_S)
            else:
                psutil.Process(postgres).send_signal(signal.SIGINT)  # its fast shutdown
                await asyncio.sleep(1)

    async def _sample_until(self, seconds: float) -> None:
        began = time.monotonic()
        await asyncio.sleep(WARM_UP_SHARE * seconds)
        while (at := time.monotonic() - began) < seconds:
            async with self.at_postgres:
                with suppress(*OUTCOMES):
                    await self._sample(at)
            await asyncio.sleep(max(0.0, began + at + self.every_s - time.monotonic()))

    async def _sample(self, at_s: float) -> None:
        redis_port = int(urlsplit(self.settings.redis_url).port or 6379)
        for part in self.stack.parts():
            if part.kind in (Kind.WORKER, Kind.API, Kind.FLOWER) and part.pid:
                for name, value in measures_of(part.pid, redis_port=redis_port).items():
                    is_judged = part.name != VICTIM and "MB" not in name
                    self.footprints.add(f"{part.name}: {name}", at_s, value, is_judged=is_judged)
        if time.monotonic() - self.killed_at < min(SETTLED_S, SETTLED_SHARE * 60 * self.minutes):
            return  # all of them together hold less as long as one is away
        connections = await self._value("connections")
        self.footprints.add("Postgres: connections", at_s, connections, is_judged=True)
        async with Redis.from_url(self.settings.redis_url, socket_timeout=ANSWER_S) as redis:
            clients = len(await redis.client_list()) - 1
        self.footprints.add("Redis: connections", at_s, clients, is_judged=True)

    async def _value(self, query: str) -> int:
        async with asyncio.timeout(ANSWER_S):
            url = self.settings.database_url
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                row = await (await connection.execute(SQL[query])).fetchone()
        assert row is not None
        return int(row[0])


async def _repeat(work: Callable[[], Awaitable[None]], events: Counter[str]) -> None:
    while True:  # ends with its task
        try:
            await work()
        except OUTCOMES as error:  # Postgres is away, or a worker: that is what is played here
            events[f"{work.__name__.strip('_')}: {type(error).__name__}"] += 1
            await asyncio.sleep(1)


@contextmanager
def _frozen(process: psutil.Process) -> Iterator[None]:
    """A process and all below it stand still."""
    stopped = [process, *process.children(recursive=True)]
    for each in stopped:
        with suppress(psutil.NoSuchProcess):
            each.suspend()
    try:
        yield
    finally:
        for each in stopped:
            with suppress(psutil.NoSuchProcess):
                each.resume()


def _model() -> AbstractContextManager[object]:
    return model_server(turns=TURNS, latency_ms=LATENCY_MS, reply_chars=REPLY_CHARS, kind=REAL)


@contextmanager
def _stack() -> Iterator[tuple[LocalStack, Settings]]:
    """A local stack in a new folder, whose model is the offline researcher in load mode."""
    home = Path(tempfile.mkdtemp(prefix="cs"))  # a short path, since Unix sockets allow 107 bytes
    for name in list(os.environ):
        if name.startswith(("CHIRON_", "ANTHROPIC_")):
            del os.environ[name]
    own = {
        "CHIRON_HOME": str(home),
        "CHIRON_MODEL": MODEL,
        "CHIRON_API_PORT": str(free_port()),
        "CHIRON_FLOWER_PORT": str(free_port()),
        "CHIRON_LOG_LEVEL": "warning",
        "CHIRON_RUN_BUDGET_USD": "10000",
        "ANTHROPIC_API_KEY": "soak",
    }
    try:
        with variables(own), _model():
            settings.cache_clear()
            stack = LocalStack(read_settings(_env_file=None), workers=WORKERS, concurrency=SLOTS)
            try:
                yield stack, stack.start()
            finally:
                stack.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _totals(database_url: str) -> tuple[int, int, int]:
    """Runs that completed and failed, and turns. Postgres may still come back from the last outage."""
    for _ in range(BACK_S):
        with (
            suppress(psycopg.OperationalError),
            psycopg.connect(database_url, connect_timeout=5) as connection,
        ):
            row = connection.execute(SQL["totals"]).fetchone()
            assert row is not None
            return row
        time.sleep(1)
    raise SystemExit(f"Postgres did not come back within {BACK_S} s of the last outage.")


def _show(soak: Soak, figures: Figures) -> None:
    completed, failed, turns = _totals(soak.settings.database_url)
    done = f"{completed} runs completed, {failed} failed, {turns} turns"
    title = f"{soak.minutes:g} minutes, {done}, load {load_average()}"
    rows = [[name, *series.cells()] for name, series in sorted(soak.footprints.series.items())]
    table(title, ["", "start", "end", "peak", "per hour", "verdict"], rows)
    print(", ".join(f"{name} {count}" for name, count in sorted(soak.events.items())))
    figures |= {name: [{"points": series.points}] for name, series in soak.footprints.series.items()}
    figures["totals"] = [{"completed": completed, "failed": failed, "turns": turns, **soak.events}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--every-s", type=float, default=10, help="Seconds between two counts.")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))  # so that nothing is left running
    with begin(parser) as (arguments, report):
        print(f"seed {arguments.seed}", flush=True)
        chance = random.Random(arguments.seed)
        with _stack() as (stack, addresses):
            soak = Soak(stack, addresses, arguments.minutes, arguments.every_s, chance)
            asyncio.run(soak.play())
            _show(soak, report.figures)
    points = min((len(series.points) for series in soak.footprints.series.values()), default=0)
    if arguments.minutes < JUDGED_MINUTES or points < POINTS_MIN:
        print(f"{arguments.minutes:g} minutes with {points} counts are too few to judge.")
    elif growing := soak.footprints.growing():
        raise SystemExit(f"These grow: {', '.join(growing)}.")
    else:
        print("Nothing grows.")


if __name__ == "__main__":
    main()
