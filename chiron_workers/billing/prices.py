"""What a model's calls cost. A run's price is frozen in its row when it is submitted: no worker's settings change it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, Literal

from chiron_workers.billing.price_tables import MILLION, Step, model_names, steps_of
from chiron_workers.nearest import suggestion
from chiron_workers.runs.entries import MaxCost, Usage
from chiron_workers.settings import OFFLINE_MODEL, PRICE_NAMES

MICRO_USD, CENT = Decimal("0.000001"), Decimal("0.01")
Override = Mapping[str, float] | Literal["none"]
Source = Literal["settings", "tables"]
# As a row's price: somebody said that the model has none. Nothing in the row: nobody said anything.
NO_PRICE: Final = "none"
_counts_of = attrgetter(*(field.name for field in fields(Usage)))  # astuple() copies deeply


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million of each count of `Usage`, by the length of the prompt; `source` says who set it.

    `PRICE_NAMES` are in the order of these counts.
    """

    source: Source
    steps: tuple[Step, ...]

    def cost_usd(self, usage: Usage) -> Decimal:
        """What a reply costs."""
        prompt_tokens = usage.tokens - usage.output_tokens
        rates = next(rates for start, rates in reversed(self.steps) if prompt_tokens > start or start == 0)
        counts = _counts_of(usage)  # most of them 0
        return sum((n * rate for n, rate in zip(counts, rates, strict=True) if n), Decimal()) / MILLION

    def to_json(self) -> dict[str, Any]:
        """The price as a run's row keeps it; numbers as text, which no reader rounds."""
        steps = [
            {"prompt_above": start} | dict(zip(PRICE_NAMES, map(str, rates), strict=True))
            for start, rates in self.steps
        ]
        return {"source": self.source, "steps": steps}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> "Price":
        """The price that a run's row keeps."""
        steps = (
            (step["prompt_above"], tuple(Decimal(step[name]) for name in PRICE_NAMES))
            for step in value["steps"]
        )
        return cls(value["source"], tuple(steps))


def price_of(model: str, overrides: Mapping[str, Override]) -> Price | Literal["none"] | None:
    """A model's price today; "none" where it is said to have none, None where nothing is known of it.

    A price in `overrides` (USD per million tokens, by the names in `settings.PRICE_NAMES`) goes before the tables of
    genai-prices.
    """
    if model == OFFLINE_MODEL:
        return Price("settings", ((0, (Decimal(),) * len(PRICE_NAMES)),))
    override = overrides.get(model)
    if override is None:
        steps = steps_of(model, datetime.now(UTC).date())
        return Price("tables", steps) if steps else None
    if isinstance(override, str):
        return NO_PRICE
    return Price("settings", ((0, _rates_of_override(override)),))


def rates_of(model: str, overrides: Mapping[str, Override]) -> Price | None:
    """`price_of` as a price to compute with; None where it is not known, or is said to be "none"."""
    price = price_of(model, overrides)
    return price if isinstance(price, Price) else None


def cost_usd(model: str, usage: Usage, overrides: Mapping[str, Override]) -> Decimal | None:
    """What a reply costs today in USD; None where the model's price is not known, or is said to be "none"."""
    price = rates_of(model, overrides)
    return None if price is None else price.cost_usd(usage)


@lru_cache(maxsize=500)  # a call is counted when its money is reserved, and again when it is made
def max_cost(price: Price | None, *, prompt_tokens: int, reply_tokens: int, searches: int = 0) -> MaxCost:
    """What a call can cost at most: each token of the prompt at its highest price, a reply of full length, all searches.

    The highest price of a token of a prompt is that of a cache write kept for an hour: twice the input price.
    """
    kinds = (
        {"input_tokens": 2 * prompt_tokens},
        {"cache_write_tokens": prompt_tokens},
        {"cache_write_1h_tokens": prompt_tokens},
    )
    # Together with the answer, whose price may depend on the length of the prompt.
    bills = [Usage(**kind, output_tokens=reply_tokens, web_searches=searches) for kind in kinds]
    usd = Decimal() if price is None else max(price.cost_usd(bill) for bill in bills)
    return MaxCost(usd.quantize(MICRO_USD, ROUND_UP), prompt_tokens + reply_tokens)


def is_known(model: str, overrides: Mapping[str, Override]) -> bool:
    """Whether a model has a price, or is configured to have none ("none")."""
    return price_of(model, overrides) is not None


def model_suggestion(model: str, overrides: Mapping[str, Override]) -> str:
    """The question whether a model with a known price and nearly the same name is meant; empty where there is none."""
    return suggestion(model, [*model_names(), *overrides, OFFLINE_MODEL])


def is_priced(model: str, overrides: Mapping[str, Override]) -> bool:
    """Whether the price of a model is known, so that a budget in USD can bind it."""
    return isinstance(price_of(model, overrides), Price)


def _rates_of_override(override: Mapping[str, float]) -> tuple[Decimal, ...]:
    input_price = Decimal(str(override.get("input", 0.0)))
    defaults = {
        # The dearest and the cheapest that Anthropic bills, relative to the input price.
        "cache_write": 2 * input_price,
        "cache_write_1h": 2 * input_price,
        "cache_read": input_price / 10,
        "web_search": Decimal(10_000),
    }
    return tuple(
        Decimal(str(override[name])) if name in override else defaults.get(name, Decimal())
        for name in PRICE_NAMES
    )
