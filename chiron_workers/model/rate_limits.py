"""Requests and tokens a minute, shared by all workers through Redis, for models that CHIRON_RATE_LIMITS names."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from chiron_workers.errors import ModelUnavailable
from chiron_workers.model.request import Request
from chiron_workers.model.retries import PAUSE_MAX_S
from chiron_workers.runs.entries import Usage
from chiron_workers.settings.values import RateLimit

log = structlog.get_logger()

BURST_S = 10.0  # of a limit's flow may be used at once
BYTES_PER_TOKEN = 3  # of a request before any reply taught better; English has about four
OUTPUT_TOKENS = 1_000  # of a reply before any taught better
LEARNING_RATE = 0.2  # weight of the newest reply in the averages
OUTAGE_S = 5.0  # for which calls go unlimited after Redis did not answer

_SCRIPT = Path(__file__).with_suffix(".lua").read_text()


@dataclass(slots=True)
class _Averages:
    """What a model's replies have cost lately, and the corrections that Redis has yet to get."""

    tokens_per_byte: float = 1 / BYTES_PER_TOKEN
    output_tokens: float = OUTPUT_TOKENS
    corrections: dict[str, float] = field(default_factory=dict)

    def correct(self, changes: Mapping[str, float]) -> None:
        for name, change in changes.items():
            self.corrections[name] = self.corrections.get(name, 0.0) + change


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call takes from its buckets, until its reply says what it used."""

    model: str
    request_bytes: int
    amounts: dict[str, float]


class RateLimiter:
    """Token buckets per model, one round trip a call and none for models without a limit.

    A call takes by estimate: its bytes times the tokens that a byte of this model's requests has cost lately (cache
    reads count nothing, as with Anthropic), and the length that replies have had. What it really used is corrected
    together with the next call of this worker, so estimates cost order and smoothness but never the limit in the long
    run. Without Redis calls go on unlimited: then the model's own 429 decides.
    """

    def __init__(self, redis: Redis | None, limits: Mapping[str, RateLimit]) -> None:
        self._redis = redis
        self._limits = limits
        self._averages = {model: _Averages() for model in limits}
        self._order = asyncio.Lock()  # calls reach Redis in the order of their arrival
        self._outage_until = 0.0

    def has_limit(self, model: str) -> bool:
        """Whether calls of a model take turns."""
        return model in self._limits

    async def acquire(self, request: Request) -> Estimate | None:
        """Wait for the call's turn; None where there is no limit.

        Raises:
            ModelUnavailable: The turn comes in more than a minute.
        """
        limit = self._limits.get(request.model)
        if limit is None:
            return None
        estimate = self._estimate(request, limit)
        wait_s = await self._take(estimate, limit)
        if wait_s > PAUSE_MAX_S:
            raise ModelUnavailable(
                f"The rate limit set for {request.model} is used up for {wait_s:.0f} s.", retry_after_s=wait_s
            )
        try:
            await asyncio.sleep(wait_s)
        except asyncio.CancelledError:
            self._averages[estimate.model].correct(estimate.amounts)
            raise
        return estimate

    def settle(self, estimate: Estimate, usage: Usage) -> None:
        """Correct what a call took, by what its reply used; returns at once."""
        averages = self._averages[estimate.model]
        input_tokens = usage.input_tokens + usage.written_tokens
        averages.tokens_per_byte += LEARNING_RATE * (
            input_tokens / estimate.request_bytes - averages.tokens_per_byte
        )
        averages.output_tokens += LEARNING_RATE * (usage.output_tokens - averages.output_tokens)
        used = _amounts(input_tokens, usage.output_tokens)
        averages.correct({name: amount - used[name] for name, amount in estimate.amounts.items()})

    def _estimate(self, request: Request, limit: RateLimit) -> Estimate:
        averages = self._averages[request.model]
        request_bytes = max(1, request.prompt_bytes)
        amounts = _amounts(
            request_bytes * averages.tokens_per_byte, min(averages.output_tokens, request.max_tokens)
        )
        return Estimate(request.model, request_bytes, {name: amounts[name] for name in limit.per_minute()})

    async def _take(self, estimate: Estimate, limit: RateLimit) -> float:
        async with self._order:
            if self._redis is None or time.monotonic() < self._outage_until:
                return 0.0
            corrections = self._averages[estimate.model].corrections
            corrections_sent = dict(corrections)
            arguments: list[float | str] = [PAUSE_MAX_S]
            for name, per_minute in limit.per_minute().items():
                capacity = max(1.0, per_minute / 60 * BURST_S)
                correction = corrections_sent.get(name, 0.0)
                arguments += [name, per_minute / 60, capacity, estimate.amounts[name], correction]
            try:
                key = f"chiron:limit:{estimate.model}"
                answer = await self._redis.eval(_SCRIPT, 1, key, *arguments)
            except (RedisError, OSError) as error:
                self._log_outage(error)
                return 0.0
            for name, correction in corrections_sent.items():
                corrections[name] -= correction
            self._outage_until = 0.0
        return max(0.0, float(cast(bytes, answer)))

    def _log_outage(self, error: Exception) -> None:
        if not self._outage_until:
            log.warning(
                "limiter.away", error=str(error), reason="calls go on without the rate limits that are set"
            )
        self._outage_until = time.monotonic() + OUTAGE_S


def _amounts(input_tokens: float, output_tokens: float) -> dict[str, float]:
    return {
        "requests": 1.0,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "tokens": input_tokens + output_tokens,
    }
