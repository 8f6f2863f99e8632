"""Cool-downs: which models nobody should call, and for how long. Redis keeps them and passes them on to all workers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from redis.asyncio import Redis

KEY = "chiron:cooling"
REASON_CHARS = 600
_SCRIPT = Path(__file__).with_suffix(".lua").read_text()


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A model that nobody should call for `seconds` from now; with 0 it may be called again.

    Durations travel rather than times, since workers' clocks differ; the times in Redis are those of its own clock.
    """

    model: str
    seconds: float
    reason: str = ""
    is_key_refused: bool = False

    def to_json(self) -> str:
        """The message that is published."""
        message = {"cooling": self.model, "seconds": self.seconds, "reason": self.reason[:REASON_CHARS]}
        return json.dumps(message | ({"key_refused": True} if self.is_key_refused else {}))

    @classmethod
    def from_json(cls, message: str) -> "Cooldown":
        """Read a published message. Raises ValueError for anything else."""
        try:
            fields = json.loads(message)
            is_key_refused = bool(fields.get("key_refused"))
            return cls(
                str(fields["cooling"]), float(fields["seconds"]), str(fields["reason"]), is_key_refused
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None


async def start_cooldown(redis: Redis, channel: str, cooldown: Cooldown) -> None:
    """Store a cool-down, unless a longer one is active, and publish it on the channel. Raises RedisError."""
    args = (channel, cooldown.model, cooldown.seconds, cooldown.to_json())
    await redis.eval(_SCRIPT, 1, KEY, *args)


async def lift_cooldowns(redis: Redis, channel: str, models: Sequence[str]) -> None:
    """End the cool-downs of these models at once. Raises RedisError."""
    for model in models:
        await start_cooldown(redis, channel, Cooldown(model, 0))


async def active_cooldowns(redis: Redis) -> list[Cooldown]:
    """The cool-downs of this moment, without their reasons. Raises RedisError."""
    seconds, micros = await redis.time()
    scores = cast(list[tuple[bytes, float]], await redis.zrange(KEY, 0, -1, withscores=True))
    seconds_by_model = [(model, until - seconds - micros / 1e6) for model, until in scores]
    return [
        Cooldown(model.decode(errors="replace"), left_s) for model, left_s in seconds_by_model if left_s > 0
    ]
