"""Hosted services that are no models, and what they charge: embedding models and search providers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, Protocol

from chiron_workers.billing.prices import MICRO_USD
from chiron_workers.embeddings import Payment
from chiron_workers.settings import Settings
from chiron_workers.settings.values import ServicePrice

MILLION = Decimal(1_000_000)
Call = Callable[[Payment], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Service:
    """A hosted service by its name in CHIRON_SERVICE_PRICES; `price` is None where nobody knows it.

    `is_by_token` where a call has tokens, which a service that is asked by the call does not tell.
    """

    name: str
    price: ServicePrice | None
    is_by_token: bool = False

    @classmethod
    def of(cls, name: str, prices: Mapping[str, ServicePrice], *, is_by_token: bool = False) -> "Service":
        """The service of a name."""
        price = prices.get(name)
        if price is not None and price.per_call is None and not is_by_token:
            price = None  # a price by the token says nothing of calls that have none
        return cls(name, price, is_by_token)

    @property
    def is_free(self) -> bool:
        """Whether it is known to cost nothing."""
        return self.price is not None and not (self.price.per_call or self.price.per_million_tokens)

    def cost_usd(self, tokens: int = 0) -> Decimal:
        """What a call of a service with a price costs, rounded up to a millionth of a dollar."""
        assert self.price is not None
        per_token = (self.price.per_million_tokens or Decimal()) / MILLION
        return ((self.price.per_call or Decimal()) + tokens * per_token).quantize(MICRO_USD, ROUND_UP)

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows what it charges."""
        return self.price is None

    def charge_usd(self, tokens: int | None, *, reserved_usd: Decimal) -> Decimal:
        """What an answered call is charged: at most what was reserved, and all of it where the service counts no tokens."""
        if self.is_by_token and tokens is None:
            return reserved_usd
        return min(self.cost_usd(tokens or 0), reserved_usd)

    def advice(self) -> str:
        """How to say what it charges."""
        example = (
            f'{{"{self.name}": {{"per_million_tokens": 0.06}}}}'
            if self.is_by_token
            else f'{{"{self.name}": 0.005}}'
        )
        return f"Set it in CHIRON_SERVICE_PRICES, for example {example}; 0 says that it costs nothing."

    def unknown_price(self) -> str:
        """The sentence on a call that is not made, since a budget in USD binds it."""
        remedy = (
            f"{self.advice()} A search in mode text needs no embedding."
            if self.is_by_token
            else self.advice()
        )
        return f"The price of {self.name} is not known, so no budget in USD can bind it, and it was not asked. {remedy}"


def embedding_service(settings: Settings) -> Service | None:
    """The service that embeds; None for the embedded model, which costs nothing, and where none is named."""
    if settings.embedding_provider == "minilm" or not settings.embedding_model:
        return None
    return Service.of(settings.embedding_model, settings.service_prices, is_by_token=True)


class Meter(Protocol):
    """Has somebody pay for calls of hosted services."""

    async def ask(self, service: Service, question: str, call: Call, *, tokens_max: int = 0) -> Any:
        """What a service answers, as JSON data, paid for.

        Args:
            question: Tells this call from others of the same tool call.
            call: Makes the call, and reserves money for each of its tries.

        Raises:
            ToolError: Nobody may or can pay for it; the sentence says what to do.
        """
