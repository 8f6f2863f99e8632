"""What requests cost at a server that bills like Claude's, and what they could cost at the least."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from chiron_workers.billing.prices import cost_usd
from chiron_workers.offline.api.request import MessagesRequest
from chiron_workers.offline.api.usage import TOKENS_MIN, InputUsage, PrefixCache
from chiron_workers.runs.entries import Usage


@dataclass
class Till:
    """Bills the requests of one conversation that only grows.

    Args:
        model: Whose prices count.
        clock: Seconds; entries of the cache end by it.
        ttl: How long an entry lives in the cheapest way to go on.
    """

    model: str
    clock: Callable[[], float]
    ttl: str = "5m"
    usages: list[Usage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cache = PrefixCache(clock=self.clock)

    def bill(self, request: dict[str, Any], *, output_tokens: int) -> dict[str, Any]:
        """The usage that the reply to a request carries. Raises ApiError where the API would refuse it."""
        found = MessagesRequest.model_validate(request)
        usage = self._cache.account(found.pieces, found.cache_control)
        self.usages.append(_counted(usage, output_tokens))
        return {**usage.body(), "output_tokens": output_tokens}

    @property
    def paid_usd(self) -> Decimal:
        """What all requests cost."""
        return sum((self._cost(usage) for usage in self.usages), Decimal())

    @property
    def least_usd(self) -> Decimal:
        """What they would cost if each token were written to the cache once and read in every later request."""
        known, total = 0, Decimal()
        for turn, usage in enumerate(self.usages):
            size = usage.tokens - usage.output_tokens
            is_last = turn == len(self.usages) - 1  # whose tokens nobody reads again
            input_usage = (
                InputUsage(size - known, 0, known)
                if is_last
                else InputUsage(0, size - known, known, self.ttl)
            )
            total += self._cost(_counted(input_usage, usage.output_tokens))
            known = size if size >= TOKENS_MIN else 0
        return total

    def _cost(self, usage: Usage) -> Decimal:
        found = cost_usd(self.model, usage, {})
        assert found is not None
        return found


def _counted(usage: InputUsage, output_tokens: int) -> Usage:
    for_an_hour = usage.cache_write if usage.ttl == "1h" else 0
    return Usage(
        input_tokens=usage.new,
        output_tokens=output_tokens,
        cache_write_tokens=usage.cache_write - for_an_hour,
        cache_write_1h_tokens=for_an_hour,
        cache_read_tokens=usage.cache_read,
    )
