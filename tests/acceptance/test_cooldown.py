"""A rate limit that 300 runs of two real workers meet at once; the model's own server counts what it is asked."""

import asyncio
import time
from typing import Any

from scripted_model import Fails, Says, says, scripted_model
from workers import rows, running, wait_until

from chiron_workers.settings import Settings
from chiron_workers.store.batches import NewBatch, NewRun, submit
from chiron_workers.store.connect import open_pool

RETRY_AFTER_S = 5
RUNS = 300


class Limited:
    """Answers nobody for a while after its first request."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self, _: dict[str, Any]) -> Says | Fails:
        now = time.monotonic()
        self.at.append(now)
        left_s = self.at[0] + RETRY_AFTER_S - now
        if left_s <= 0:
            return says("done")
        return Fails(status=429, type="rate_limit_error", headers={"retry-after": f"{left_s:.3f}"})


async def test_three_hundred_runs_of_two_workers_leave_a_model_alone_that_turns_them_away(
    settings: Settings,
) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(f"topic {n}", "research", "Physics", "claude-opus-5-5", 50) for n in range(RUNS)]
        await submit(pool, NewBatch(runs, "Physics"))
    server = Limited()
    async with scripted_model(server) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_CONCURRENCY": "150"}
        with running(settings, name="w1", **env), running(settings, name="w2", **env):
            completed = "select count(*) as n from runs where state = 'completed'"
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, completed)[0]["n"] == RUNS, 90, "all runs completed"
            )
        workers = "select count(distinct data ->> 'worker') as n from events where kind = 'run.started'"
        assert rows(settings, workers)[0]["n"] == 2
    came = [at - server.at[0] for at in server.at]
    refused = [at for at in came if at < RETRY_AFTER_S]
    print(f"{len(refused)} refused, the last after {refused[-1]:.2f} s; all done after {came[-1]:.1f} s")
    assert len(refused) < RUNS / 3, "requests that left before the first refusal was known"
    assert not [at for at in refused if at > RETRY_AFTER_S / 2], "somebody called during the cool-down"
    back = [at for at in came if RETRY_AFTER_S <= at < RETRY_AFTER_S + 1]
    assert len(back) < RUNS * 2 / 3, "everybody came back at once"
