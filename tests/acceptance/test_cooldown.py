"""Limits that the runs of real workers meet; the model's own server counts what it is asked."""

import asyncio
import time
from typing import Any

from redis import Redis
from support.scripted_model import Fails, Says, scripted_model, searched
from support.worker_processes import chiron, rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.pubsub.cooldowns import KEY as COOLING
from chiron_workers.pubsub.signals import CHANNEL, notify
from chiron_workers.settings import Settings

RETRY_AFTER_S = 5
EARLY, RUNS = 60, 300


class Limited:
    """Answers nobody for a while after its first request."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.at_of_late: list[float] = []

    def __call__(self, request: dict[str, Any]) -> Says | Fails:
        now = time.monotonic()
        self.at.append(now)
        if "late" in str(request["messages"][0]):
            self.at_of_late.append(now)
        left_s = self.at[0] + RETRY_AFTER_S - now
        if left_s <= 0:
            return searched("done")
        return Fails(status=429, type="rate_limit_error", headers={"retry-after": f"{left_s:.3f}"})

    def is_over(self) -> bool:
        return bool(self.at) and time.monotonic() > self.at[0] + RETRY_AFTER_S


async def enqueue(settings: Settings, name: str, count: int) -> None:
    runs = [NewRun(f"{name} {n}", "research", "Physics", "claude-opus-5-5", 50) for n in range(count)]
    async with open_pool(settings.database_url, size=1) as pool:
        batch_id = (await submit(pool, NewBatch(runs, "Physics"))).batch_id
    await notify(settings.redis_url, batch_id)


async def test_three_hundred_runs_of_two_workers_leave_a_model_alone_that_turns_them_away(
    settings: Settings,
) -> None:
    server = Limited()
    async with scripted_model(server) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_CONCURRENCY": "150"}
        with running(settings, name="w1", **env), running(settings, name="w2", **env):
            with Redis.from_url(settings.redis_url) as redis:
                both_listen = lambda: redis.pubsub_numsub(CHANNEL)[0][1] >= 2  # noqa: E731
                await asyncio.to_thread(wait_until, both_listen, what="both workers listen")
                await enqueue(settings, "early", EARLY)
                is_known = lambda: redis.zcard(COOLING) or server.is_over()  # noqa: E731
                await asyncio.to_thread(wait_until, is_known, what="the cool-down is told")
            await enqueue(settings, "late", RUNS - EARLY)
            completed = "select count(*) as n from runs where state = 'completed'"
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, completed)[0]["n"] == RUNS, what="all runs completed"
            )
        workers = "select count(distinct data ->> 'worker') as n from events where kind = 'run.started'"
        assert rows(settings, workers)[0]["n"] == 2
    came = [at - server.at[0] for at in server.at]
    refused = [at for at in came if at < RETRY_AFTER_S]
    print(f"{len(refused)} refused, the last after {refused[-1]:.2f} s; all done after {came[-1]:.1f} s")
    assert len(refused) < RUNS / 3, "requests that left before the first refusal was known"
    assert min(server.at_of_late) - server.at[0] >= RETRY_AFTER_S, "somebody called during the cool-down"
    back = [at for at in came if RETRY_AFTER_S <= at < RETRY_AFTER_S + 1]
    assert len(back) < RUNS * 2 / 3, "everybody came back at once"


async def test_after_a_spend_limit_was_raised_resume_lets_the_whole_queue_go_on_at_once(
    settings: Settings,
) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(f"topic {n}", "research", "Physics", "claude-opus-5-5", 50) for n in range(20)]
        batch_id = str((await submit(pool, NewBatch(runs, "Physics"))).batch_id)
    is_raised = False

    def script(_: dict[str, Any]) -> Says | Fails:
        limit = Fails(status=429, type="rate_limit_error", message="contract_spend_limit_reached")
        return searched("done") if is_raised else limit

    async with scripted_model(script) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_CONCURRENCY": "4"}
        with running(settings, name="w1", **env), running(settings, name="w2", **env):
            held = "select 1 from holds having count(*) = 1 and not exists (select from runs where state = 'running')"
            await asyncio.to_thread(wait_until, lambda: rows(settings, held), what="the hold")
            asked = len(model.requests)
            shown = await asyncio.to_thread(chiron, settings, "show", batch_id)
            assert "Held until " in shown.stdout
            is_raised = True
            said = await asyncio.to_thread(chiron, settings, "resume", batch_id)
            assert "ried again at once: claude-opus-5-5." in said.stdout, (
                "whether or not runs waited for the hold's end"
            )
            completed = "select count(*) as n from runs where state = 'completed'"
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, completed)[0]["n"] == 20, what="all runs completed"
            )
    assert asked <= 8, "no more than were in flight when the limit was met"
