"""A thousand clients of one API process, while Redis and the API are killed: each gets each event once."""

import asyncio
import resource
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from uuid import UUID

import pytest
from support.committed_events import batch_of, happen
from support.private_valkey import own_valkey
from support.worker_processes import environment

from benchmarks.event_clients import EventClient, data_of
from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import free_port
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind

CLIENTS = 1_000
RUNS = 10
EVENTS = 5  # of a run in each part of the test


class Api:
    """The HTTP API as a process, which may be killed and started again at its port."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with (self._settings.home / "api.log").open("ab") as out:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "chiron_api", "api", "--port", str(self._port)),
                env=environment(self._settings),
                stdout=out,
                stderr=out,
                cwd=self._settings.home,
            )
        async with asyncio.timeout(120):
            while True:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                    writer.close()
                    return
                assert self.process.returncode is None, (self._settings.home / "api.log").read_text()
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def running_api(settings: Settings) -> AsyncIterator[Api]:
    api = Api(settings)
    await api.start()
    try:
        yield api
    finally:
        await api.kill()


@pytest.fixture
def open_files() -> None:
    """Room for the sockets of all clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4_096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, hard))


class Audience:
    """Clients of the batch and of its runs, and how often each has received which event."""

    def __init__(self, api: Api, key: str) -> None:
        self._api, self._key = api, key
        self.counts: list[Counter[bytes]] = []
        self.clients: list[EventClient] = []
        self.tasks: list[asyncio.Task[None]] = []

    def follow(self, path: str) -> None:
        counts: Counter[bytes] = Counter()
        client = EventClient(self._api.url, path, self._key, lambda frame: counts.update([data_of(frame)]))
        self.counts.append(counts)
        self.clients.append(client)
        self.tasks.append(asyncio.create_task(client.follow()))

    async def reach(self, events: int) -> None:
        """Wait until each client has so many events of each run that it follows."""
        while not all(len(counts) >= events * runs_of(n) for n, counts in enumerate(self.counts)):
            for task in self.tasks:
                if task.done():
                    await task
            await asyncio.sleep(0.1)  # what is awaited happens in another process


def runs_of(number: int) -> int:
    """How many runs a client follows: three in ten follow a single one."""
    return RUNS if number % 10 < 7 else 1


async def play(pool: Pool, publisher: Publisher, run_ids: list[UUID], chance: Random, *, events: int) -> None:
    """Commit and publish events of all runs, in any order."""

    async def play_one(run_id: UUID) -> None:
        for n in range(events):
            publisher.publish(await happen(pool, run_id, EventKind.TOOL_CALLED, n=n))
            await asyncio.sleep(chance.random() * 0.2)

    await asyncio.gather(*map(play_one, run_ids))


async def test_a_thousand_clients_get_each_event_once_though_redis_and_the_api_are_killed(
    pool: Pool, settings: Settings, tmp_path: Path, open_files: None, chance: Random
):
    batch_id, run_ids = await batch_of(pool, RUNS)
    with own_valkey(tmp_path / "own-valkey") as valkey:
        own = settings.model_copy(update={"redis_url": valkey.url})
        publisher = Publisher(valkey.url)
        async with asyncio.timeout(800), running_api(own) as api:
            audience = Audience(api, api_key(own))
            for number in range(CLIENTS):
                is_batch = runs_of(number) == RUNS
                target = f"batches/{batch_id}" if is_batch else f"runs/{run_ids[number % RUNS]}"
                audience.follow(f"/v1/{target}/events?history=true")
            await audience.reach(1)
            await play(pool, publisher, run_ids, chance, events=3)
            playing = asyncio.create_task(play(pool, publisher, run_ids, chance, events=EVENTS))
            await audience.reach(5)
            valkey.kill()
            await playing
            await audience.reach(4 + EVENTS)  # without Redis
            await asyncio.to_thread(valkey.start)
            playing = asyncio.create_task(play(pool, publisher, run_ids, chance, events=EVENTS))
            await audience.reach(6 + EVENTS)
            await api.kill()
            await api.start()
            await playing
            for run_id in run_ids:
                publisher.publish(
                    await happen(pool, run_id, EventKind.RUN_COMPLETED, state="completed", opens=-1)
                )
            await asyncio.gather(*audience.tasks)
        await publisher.close()
    assert all(client.connections >= 2 for client in audience.clients)
    for number, counts in enumerate(audience.counts):
        assert set(counts.values()) == {1}
        assert len(counts) == (5 + 2 * EVENTS) * runs_of(number)
