"""Who runs next, with real workers: fair, within the limits, and soon also where Redis tells them nothing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from redis import Redis
from support.private_valkey import own_valkey
from support.scripted_model import Says, scripted_model, searched
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.pubsub.signals import CHANNEL, notify
from chiron_workers.settings import Settings

KEY = {"ANTHROPIC_API_KEY": "test"}
SELDOM = "600"  # seconds between two looks or rings, where a test shows that nobody waits for the next one
STARTED = "select 1 from events where kind = 'run.started' and batch_id = %s having count(*) >= %s"
UP = "select 1 from runs where state = 'completed' and topic = 'warm-up 0'"
PLAYING = "select 1 from runs where state = 'running'"
RUNG = "select 1 from runs where dispatched_at is not null"
WAITED = "select max(started_at) - min(created_at) as time from runs where batch_id = %s"
BUSY = """
select count(*) filter (where batch_id = %(batch_id)s) as of_batch, count(*) filter (where model = %(model)s) as of_model
  from runs where state = 'running'
"""


class Held:
    """A model that answers nothing until it is told how many runs may end; the warm-up ends by itself."""

    def __init__(self) -> None:
        self.may_end = asyncio.Semaphore(0)

    async def __call__(self, request: dict[str, Any]) -> Says:
        if "warm-up" not in str(request["messages"][0]):
            await self.may_end.acquire()
        return searched("done")

    def let_end(self, count: int) -> None:
        for _ in range(count):
            self.may_end.release()


async def enqueue(settings: Settings, name: str, count: int, *, tell: bool = True, **values: Any) -> UUID:
    model, ready_at = values.pop("model", "claude-opus-5-5"), values.pop("ready_at", None)
    runs = [NewRun(f"{name} {n}", "research", "Physics", model, 50, ready_at=ready_at) for n in range(count)]
    async with open_pool(settings.database_url, size=1) as pool:
        batch_id = (await submit(pool, NewBatch(runs, "Physics", **values))).batch_id
    if tell:
        await notify(settings.redis_url, batch_id)
    return batch_id


async def up(settings: Settings) -> None:
    """Wait until a worker hears hints and plays."""
    with Redis.from_url(settings.redis_url) as redis:
        await until(lambda: redis.pubsub_numsub(CHANNEL)[0][1], "a worker that listens")
    await enqueue(settings, "warm-up", 1)
    await until(lambda: rows(settings, UP), "a worker that plays")


async def until(condition: Callable[[], Any], what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what=what)


async def started(settings: Settings, batch_id: UUID, count: int) -> None:
    """Wait until so many runs of a batch have started."""
    await until(lambda: rows(settings, STARTED, [batch_id, count]), f"{count} runs started")


def waited(settings: Settings, batch_id: UUID) -> timedelta:
    """How long after its submit the last run of a batch started, by the clock of Postgres."""
    return rows(settings, WAITED, [batch_id])[0]["time"]


async def test_a_batch_of_5_behind_10_000_starts_at_once_and_gets_the_next_free_slots(
    settings: Settings,
) -> None:
    script = Held()
    async with scripted_model(script) as model:
        env = {**KEY, "CHIRON_RESCUE_S": SELDOM, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, "-c", "20", **env):
            await up(settings)
            large = await enqueue(settings, "large", 10_000, concurrency=12)
            await started(settings, large, 12)
            small = await enqueue(settings, "small", 5)
            await started(settings, small, 5)  # three of the 20 slots stay empty
            assert len(rows(settings, PLAYING)) == 12 + 5
            full = await enqueue(settings, "full", 10)
            await started(settings, full, 3)
            late = await enqueue(settings, "late", 2)
            script.let_end(2)
            await started(settings, late, 2)  # the next two slots are its own: no third one becomes free
            script.let_end(100)


async def test_two_workers_at_once_pass_no_limit(settings: Settings) -> None:
    all_play = asyncio.Event()

    async def quick(_: dict[str, Any]) -> Says:
        await all_play.wait()  # or the first worker to start could be through before the second one is up
        await asyncio.sleep(0.05)
        return searched("done")

    async with scripted_model(quick) as model:
        limits = '{"claude-haiku-4-5": 5}'
        env = {**KEY, "CHIRON_MODEL_CONCURRENCY": limits, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, "-c", "20", name="w1", **env), running(settings, "-c", "20", name="w2", **env):
            batch_id = await enqueue(settings, "a", 60, concurrency=4)
            await enqueue(settings, "b", 60, model="claude-haiku-4-5")
            await enqueue(settings, "c", 60)
            args = {"batch_id": batch_id, "model": "claude-haiku-4-5"}
            full = f"{PLAYING} having count(*) = 40"
            await until(lambda: rows(settings, full), "both workers are full")
            most = {"of_batch": 0, "of_model": 0}
            over = "select 1 from batches having bool_and(open_runs = 0)"

            def sampled() -> bool:
                [found] = rows(settings, BUSY, args)  # type: ignore[arg-type]
                most.update({name: max(most[name], found[name]) for name in most})
                return bool(rows(settings, over))

            sampled()
            all_play.set()
            await until(sampled, "all completed")
    assert most == {"of_batch": 4, "of_model": 5}
    assert len(rows(settings, "select distinct worker from runs")) == 2
    assert rows(settings, overlaps("batch_id = %(batch_id)s"), args) == [{"most": 4}]  # type: ignore[arg-type]
    assert rows(settings, overlaps("model = %(model)s"), args) == [{"most": 5}]  # type: ignore[arg-type]


def overlaps(of: str) -> str:
    """How many runs were under way at once at most, from when each began and ended."""
    return f"""
    select max(n)::int as most from (
      select sum(step) over (order by at, step) as n from (
        select started_at as at, 1 as step from runs where {of}
        union all select finished_at, -1 from runs where {of}) steps) counted
    """  # noqa: S608  # the two conditions above


async def test_without_a_hint_a_run_starts_within_the_pause_between_two_looks(settings: Settings) -> None:
    script = Held()
    async with scripted_model(script) as model:
        with running(settings, **KEY, CHIRON_RING_AGAIN_S=SELDOM, ANTHROPIC_BASE_URL=model.url):
            await up(settings)
            batch_id = await enqueue(settings, "untold", 3, tell=False)
            await started(settings, batch_id, 3)
            assert waited(settings, batch_id) < timedelta(seconds=30), (
                "a second, and what a busy machine takes"
            )
            script.let_end(3)


async def test_with_a_hint_a_run_starts_long_before_the_next_look(settings: Settings) -> None:
    script = Held()
    async with scripted_model(script) as model:
        with running(settings, **KEY, CHIRON_RESCUE_S=SELDOM, ANTHROPIC_BASE_URL=model.url):
            await up(settings)
            for name in ("first", "second"):
                batch_id = await enqueue(settings, name, 3)
                await started(settings, batch_id, 3)
                assert waited(settings, batch_id) < timedelta(seconds=30), "of the 600 until the next look"
            script.let_end(6)


async def test_a_run_starts_when_it_is_due_and_not_before(settings: Settings) -> None:
    script = Held()
    async with scripted_model(script) as model:
        with running(settings, **KEY, CHIRON_RESCUE_S="0.5", ANTHROPIC_BASE_URL=model.url):
            await up(settings)
            due = datetime.now(UTC) + timedelta(seconds=2)
            batch_id = await enqueue(settings, "later", 2, ready_at=due)
            await started(settings, batch_id, 2)
            [first] = rows(settings, "select min(started_at) as at from runs where batch_id = %s", [batch_id])
            # It looks twice a second; what is beyond that, a busy machine took.
            assert timedelta(0) <= first["at"] - due < timedelta(seconds=30)
            script.let_end(2)


async def test_what_is_submitted_while_redis_is_dead_starts_soon_after_it_is_back(settings: Settings) -> None:
    script = Held()
    async with scripted_model(script) as model:
        with own_valkey(settings.home / "valkey") as server:
            own = settings.model_copy(update={"redis_url": server.url})
            with running(own, **KEY, CHIRON_RING_AGAIN_S=SELDOM, ANTHROPIC_BASE_URL=model.url) as worker:
                await up(own)
                server.kill()
                batch_id = await enqueue(own, "during", 3)
                await until(lambda: worker.has_said("ring.failed"), "a ring that fails")
                await until(lambda: not rows(own, RUNG), "what could not be rung is taken back")
                server.start()
                await started(own, batch_id, 3)
                script.let_end(3)
