"""`python -m support.limited_calls URL LIMIT SECONDS LEAST`: call after call of a model that has a rate limit.

It prints "ready" and begins with a line of its standard input; then 30 callers take turns for so many seconds, or until they
had so many turns. It prints when each turn came, on the monotonic clock, and the longest delay of this process or Redis.
"""

import asyncio
import json
import sys
import time

from chiron_workers.model import Request
from chiron_workers.model.rate_limits import RateLimiter
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.settings.values import RateLimit

CALLERS = 30


async def main(url: str, limit: str, seconds: str, least: str) -> None:
    redis = redis_client(url)
    limiter = RateLimiter(redis, {"m": RateLimit(**json.loads(limit))})
    turns, late_s, is_over = list[float](), 0.0, False
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + float(seconds)

    async def call_again_and_again() -> None:
        while time.monotonic() < end or len(turns) < int(least):
            await limiter.acquire(Request("m", "", (), 100, []))
            turns.append(time.monotonic())

    async def watch() -> None:
        nonlocal late_s
        while not is_over:
            began = time.monotonic()
            await redis.ping()
            await asyncio.sleep(0.01)
            late_s = max(late_s, time.monotonic() - began - 0.01)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(call_again_and_again() for _ in range(CALLERS)))
    is_over = True
    await watching
    print(json.dumps([turns, late_s]))
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
