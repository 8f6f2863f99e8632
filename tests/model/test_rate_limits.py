"""A model's rate limit, shared through a real Valkey by everybody who calls it."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs
from support import forked_python

from chiron_workers.errors import ConfigurationError, ModelUnavailable
from chiron_workers.model import Request
from chiron_workers.model.rate_limits import BURST_S, BYTES_PER_TOKEN, RateLimiter
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.runs.entries import Usage
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.values import RateLimit

TESTS = Path(__file__).parents[1]


def request(chars: int = 0, *, max_tokens: int = 1_000) -> Request:
    return Request("m", "x" * chars, (), max_tokens, [])


@asynccontextmanager
async def limiter(redis_url: str, **limits: float) -> AsyncIterator[RateLimiter]:
    redis = redis_client(redis_url)
    yield RateLimiter(redis, {"m": RateLimit(**limits)})
    await redis.aclose()


async def waits(found: RateLimiter, asked: Request) -> float:
    began = time.monotonic()
    await found.acquire(asked)
    return time.monotonic() - began


def test_two_processes_together_never_pass_the_limit_beyond_the_burst(settings: Settings) -> None:
    per_minute, seconds = 6_000.0, 1.5
    burst, flow = per_minute / 60 * BURST_S, per_minute / 60
    least = int((burst + flow * seconds / 2) / 2) + 1  # of each, however long a busy machine takes
    command = [sys.executable, "-m", "support.limited_calls", settings.redis_url]
    command += [json.dumps({"requests_per_minute": per_minute}), str(seconds), str(least)]
    processes = [
        forked_python.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [json.loads(process.communicate(timeout=90)[0]) for process in processes]
    each = [found for found, _ in answers]
    went = sorted(at for found in each for at in found)
    print(f"{[len(found) for found in each]} calls in {went[-1] - went[0]:.2f} s")
    assert min(len(found) for found in each) > 100, "both were served"
    assert len(went) > burst + flow * seconds / 2, "what the limit allows was used"
    # A call may go a little after its turn, and later where its process or Redis stood still.
    late_s = 0.25 + max(late_s for _, late_s in answers)
    for first in range(0, len(went), 7):
        for last in range(first, len(went), 7):
            assert last - first + 1 <= burst + flow * (went[last] - went[first] + late_s) + 1


async def test_calls_get_their_turn_in_the_order_in_which_they_came(settings: Settings) -> None:
    order: list[int] = []
    async with (
        limiter(settings.redis_url, requests_per_minute=600) as one,
        limiter(settings.redis_url, requests_per_minute=600) as other,
        Redis.from_url(settings.redis_url) as watcher,
    ):
        for found in (one, other):
            await found.acquire(request())  # connects

        async def call(number: int) -> None:
            await (one, other)[number % 2].acquire(request())
            order.append(number)

        async def taken() -> int:
            return int((await watcher.info("commandstats"))["cmdstat_eval"]["calls"])

        tasks, before = [], await taken()
        for number in range(int(600 / 60 * BURST_S) + 10):
            tasks.append(asyncio.create_task(call(number)))
            async with asyncio.timeout(60):
                # A call has its turn before the next one comes.
                while await taken() <= before + number:
                    await asyncio.sleep(0)
        await asyncio.gather(*tasks)
    waited = order[int(600 / 60 * BURST_S) :]  # one comes every 0.1 s; the burst before goes at once
    assert waited == sorted(waited)


async def test_a_turn_that_is_more_than_a_minute_away_is_not_waited_for_and_takes_nothing(
    settings: Settings,
) -> None:
    async with limiter(settings.redis_url, input_tokens_per_minute=60_000) as found:
        huge = request(int(120_000 * BYTES_PER_TOKEN))
        assert await waits(found, huge) < 20, "what is larger than the bucket goes when it is full"
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="rate limit set for m") as told:
                await found.acquire(huge)
            assert 100 < told.value.retry_after_s < 130


async def test_what_a_call_did_not_use_is_given_back_and_what_it_used_beyond_is_owed(
    settings: Settings,
) -> None:
    per_minute = 600_000  # 10,000 a second, 100,000 at once
    async with limiter(settings.redis_url, tokens_per_minute=per_minute) as found:
        taken = await found.acquire(request(int(99_000 * BYTES_PER_TOKEN)))
        assert taken is not None
        found.settle(taken, Usage(input_tokens=0, output_tokens=0, cache_read_tokens=99_000))
        began = time.monotonic()
        taken = await found.acquire(request(int(99_000 * BYTES_PER_TOKEN)))
        assert time.monotonic() - began < 5, "the cache's tokens were given back, else it would wait for 8 s"
        assert taken is not None
        found.settle(taken, Usage(input_tokens=0, output_tokens=0, cache_read_tokens=99_000))
        taken = await found.acquire(request())
        assert taken is not None
        began = time.monotonic()
        found.settle(taken, Usage(input_tokens=100_000, output_tokens=10_000))
        await found.acquire(request())
        assert time.monotonic() - began > 0.5, "the debt is waited for"


async def test_estimates_learn_from_the_replies(settings: Settings) -> None:
    async with limiter(
        settings.redis_url, input_tokens_per_minute=1e9, output_tokens_per_minute=1e9
    ) as found:
        for _ in range(40):
            taken = await found.acquire(request(30_000))
            assert taken is not None
            found.settle(taken, Usage(input_tokens=1_000, output_tokens=50, cache_read_tokens=8_000))
        taken = await found.acquire(request(30_000))
    assert taken is not None
    assert taken.amounts["input_tokens"] == pytest.approx(1_000, rel=0.05)
    assert taken.amounts["output_tokens"] == pytest.approx(50, rel=0.05)


async def test_a_call_that_is_cut_while_it_waits_gives_its_turn_back(settings: Settings) -> None:
    async with limiter(settings.redis_url, requests_per_minute=120) as found:
        for _ in range(int(2 * BURST_S)):
            await found.acquire(request())
        waiting = [asyncio.create_task(found.acquire(request())) for _ in range(60)]
        await asyncio.wait(waiting, timeout=0.2)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert await waits(found, request()) < 15, "not the 30 s that all of them would take"


async def test_a_model_without_a_limit_costs_no_round_trip() -> None:
    async with limiter("redis://127.0.0.1:1", requests_per_minute=1) as found:
        assert await found.acquire(Request("other", "", (), 10, [])) is None


async def test_without_redis_calls_go_on_and_one_warning_says_so() -> None:
    async with limiter("redis://127.0.0.1:1", requests_per_minute=1) as found:
        with capture_logs() as logs:
            for _ in range(5):
                assert await waits(found, request()) < 20
    assert [line["event"] for line in logs] == ["limiter.away"]


async def test_a_flushed_redis_begins_with_full_buckets(settings: Settings) -> None:
    async with limiter(settings.redis_url, requests_per_minute=60) as found:
        for _ in range(int(BURST_S)):
            await found.acquire(request())
        async with Redis.from_url(settings.redis_url) as redis:
            await redis.flushdb()
            began = time.monotonic()
            for _ in range(int(BURST_S)):
                await found.acquire(request())
            assert time.monotonic() - began < 8, "of the 10 s that they wait for where the bucket is empty"
            assert 0 < await redis.ttl("chiron:limit:m") <= 120


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('{"m": {"requests_per_minute": 0}}', "CHIRON_RATE_LIMITS: m.requests_per_minute: .*greater than 0"),
        ('{"m": {"requests": 5}}', "CHIRON_RATE_LIMITS: m.requests: "),
        ("5 a minute", "CHIRON_RATE_LIMITS: must be JSON"),
    ],
)
def test_a_wrong_limit_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHIRON_RATE_LIMITS", value)
    with pytest.raises(ConfigurationError, match=words):
        read_settings()
