"""What a worker does while Redis or the schema is missing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from redis import Redis
from support.private_valkey import OwnValkey, own_valkey
from support.queued_topics import enqueue
from support.scripted_model import Says, ScriptedModel, scripted_model, searched
from support.worker_processes import rows, running, wait_until

from benchmarks.crashes.consistency import disagreements, snapshot
from chiron_workers.settings import Settings

ENV = {
    "CHIRON_RESCUE_S": "0.5",
    "CHIRON_RING_AGAIN_S": "2",
    "ANTHROPIC_API_KEY": "test",
}
COMPLETED = "select 1 from runs where state = 'completed' and topic = %s"


@pytest.fixture
def away(settings: Settings, tmp_path: Path) -> Iterator[tuple[Settings, OwnValkey]]:
    """Settings with a Valkey that may be away."""
    with own_valkey(tmp_path / "valkey") as server:
        yield settings.model_copy(update={"redis_url": server.url}), server


async def done(_: object) -> Says:
    return searched("done")


async def completed(settings: Settings, topic: str) -> None:
    await asyncio.to_thread(wait_until, lambda: rows(settings, COMPLETED, [topic]), what=f"{topic} completed")


def assert_consistent(settings: Settings, model: ScriptedModel) -> None:
    log = [
        ask.logged(str(ask.request["messages"][0]["content"][0]["text"]).removeprefix("Research topic: "))
        for ask in model.asks
    ]
    with snapshot(settings.database_url) as connection:
        assert disagreements(connection, log) == []


async def test_a_run_queued_while_redis_is_dead_is_played_when_it_is_back(
    away: tuple[Settings, OwnValkey],
) -> None:
    settings, server = away
    async with scripted_model(done) as model:
        with running(settings, **ENV, ANTHROPIC_BASE_URL=model.url) as worker:
            await enqueue(settings, "before")
            await completed(settings, "before")
            server.kill()
            await enqueue(settings, "during")
            await asyncio.to_thread(
                wait_until, lambda: worker.has_said("ring.failed"), what="a ring that fails"
            )
            server.start()
            await completed(settings, "during")
        assert_consistent(settings, model)


async def test_a_redis_that_hangs_does_not_stop_the_rescue(away: tuple[Settings, OwnValkey]) -> None:
    settings, server = away
    async with scripted_model(done) as model:
        with running(settings, **ENV, ANTHROPIC_BASE_URL=model.url):
            await enqueue(settings, "before")
            await completed(settings, "before")
            server.stand_still()
            try:
                await enqueue(settings, "lost")
                await enqueue(settings, "waiting")
                lose = "update runs set state = 'running', lease = 1, worker = 'gone', leased_until = now() - interval '1 minute'"
                rows(settings, f"{lose} where topic = 'lost' returning 1")
                rescued = lambda: rows(settings, "select 1 from events where kind = 'run.handed_back'")  # noqa: E731
                await asyncio.to_thread(wait_until, rescued, what="the rescue")
            finally:
                server.go_on()
            await completed(settings, "lost")
            await completed(settings, "waiting")
        assert_consistent(settings, model)


async def test_doorbells_stay_few_whatever_the_size_of_the_pool(
    away: tuple[Settings, OwnValkey],
) -> None:
    settings, _ = away
    let_go = asyncio.Event()

    async def held(_: object) -> Says:
        await let_go.wait()
        return searched("done")

    async with scripted_model(held) as model:
        often = ENV | {"CHIRON_RING_AGAIN_S": "0.5"}
        with running(settings, "-c", "2", **often, ANTHROPIC_BASE_URL=model.url):
            await enqueue(settings, *(f"topic {n}" for n in range(50)))
            playing = "select 1 from runs where state = 'running' having count(*) = 2"
            await asyncio.to_thread(wait_until, lambda: rows(settings, playing), what="two runs")
            await asyncio.sleep(3 * float(often["CHIRON_RING_AGAIN_S"]))
            with Redis.from_url(settings.redis_url) as redis:
                assert redis.llen("chiron") <= 4
            let_go.set()


async def test_a_worker_refuses_a_database_that_is_not_migrated(settings: Settings) -> None:
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade")
        connection.execute("create schema public")
    with running(settings, **ENV) as worker:
        assert await asyncio.to_thread(worker.process.wait, 90) == 1
    assert "Run `chiron migrate` first" in worker.log.read_text()
