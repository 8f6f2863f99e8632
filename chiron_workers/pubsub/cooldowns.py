"""Which models turn everybody away, and for how long: kept in Redis, told to all workers as it happens."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from redis.asyncio import Redis

KEY = "chiron:cooling"
REASON_CHARS = 600
_COOL = Path(__file__).with_suffix(".lua").read_text()


@dataclass(frozen=True, slots=True)
class Cooling:
    """A model that nobody should call for `seconds` from now; with 0 it may be called again.

    Durations travel rather than times, since workers' clocks differ; the times in Redis are those of its own clock.
    """

    model: str
    seconds: float
    reason: str = ""

    def to_json(self) -> str:
        """What is published."""
        return json.dumps(
            {"cooling": self.model, "seconds": self.seconds, "reason": self.reason[:REASON_CHARS]}
        )

    @classmethod
    def from_json(cls, message: str) -> "Cooling":
        """The same back. Raises ValueError for anything else."""
        try:
            found = json.loads(message)
            return cls(str(found["cooling"]), float(found["seconds"]), str(found["reason"]))
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from None


async def cool(redis: Redis, channel: str, cooling: Cooling) -> None:
    """Keep a cool-down, unless a longer one stands, and tell whoever listens. Raises RedisError."""
    args = (channel, cooling.model, cooling.seconds, cooling.to_json())
    await redis.eval(_COOL, 1, KEY, *args)


async def lift(redis: Redis, channel: str, models: Sequence[str]) -> None:
    """End the cool-downs of these models. Raises RedisError."""
    for model in models:
        await cool(redis, channel, Cooling(model, 0))


async def standing(redis: Redis) -> list[Cooling]:
    """The cool-downs that stand now. Raises RedisError."""
    seconds, micros = await redis.time()
    found = cast(list[tuple[bytes, float]], await redis.zrange(KEY, 0, -1, withscores=True))
    lefts = [(model, until - seconds - micros / 1e6) for model, until in found]
    return [Cooling(model.decode(errors="replace"), left) for model, left in lefts if left > 0]
