from collections.abc import Mapping
from dataclasses import astuple, fields
from datetime import UTC, date, datetime
from decimal import ROUND_UP, Decimal
from functools import lru_cache
from typing import Literal

from chiron_workers.runs.entries import MaxCost, Usage
from chiron_workers.settings import OFFLINE_MODEL

MILLION = Decimal(1_000_000)
MICRO_USD = Decimal("0.000001")
Price = Mapping[str, float] | Literal["none"]


def cost_usd(model: str, usage: Usage, overrides: Mapping[str, Price]) -> Decimal | None:
    """What a reply costs in USD; None where the model's price is not known, or is said to be "none".

    A price in `overrides` (USD per million tokens: input, output, cache_write, cache_write_1h, cache_read, web_search) goes
    before the tables of genai-prices.
    """
    if model == OFFLINE_MODEL:
        return Decimal()
    price = overrides.get(model)
    if price == "none":
        return None
    if price is not None:
        return _from_override(usage, price)
    # Tiers and their like are left to genai-prices; where each token costs the same, a sum is a tenth of the work.
    prices = _unit_prices(model, datetime.now(UTC).date())
    if prices is None:
        return _genai_price(model, usage)
    return (
        sum((count * price for count, price in zip(astuple(usage), prices, strict=True)), Decimal()) / MILLION
    )


def max_cost(
    model: str, overrides: Mapping[str, Price], *, prompt_tokens: int, reply_tokens: int, searches: int = 0
) -> MaxCost:
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
    usd = max(cost_usd(model, bill, overrides) or Decimal() for bill in bills)
    return MaxCost(usd.quantize(MICRO_USD, ROUND_UP), prompt_tokens + reply_tokens)


@lru_cache(maxsize=64)
def _unit_prices(model: str, day: date) -> tuple[Decimal, ...] | None:
    """USD per million of each count, or None where a million does not cost a million times one."""
    prices = []
    for name in (field.name for field in fields(Usage)):
        unit_price, million_price = (_genai_price(model, Usage(**{name: count})) for count in (1, 1_000_000))
        if unit_price is None or million_price is None or unit_price * MILLION != million_price:
            return None
        prices.append(million_price)
    return tuple(prices)


def _genai_price(model: str, usage: Usage) -> Decimal | None:
    import genai_prices

    usage_counts = genai_prices.Usage(
        # genai-prices counts cached tokens as part of the input; the API reports them beside it.
        input_tokens=usage.input_tokens + usage.written_tokens + usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        cache_write_tokens=usage.written_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        **({"web_searches": usage.web_searches} if usage.web_searches else {}),
    )
    try:
        return genai_prices.calc_price(usage_counts, model, provider_id="anthropic").total_price
    except LookupError:
        return None


def is_known(model: str, overrides: Mapping[str, Price]) -> bool:
    """Whether a model has a price, or is configured to have none ("none")."""
    return overrides.get(model) == "none" or is_priced(model, overrides)


def is_priced(model: str, overrides: Mapping[str, Price]) -> bool:
    """Whether the price of a model is known, so that a budget in USD can bind it."""
    return cost_usd(model, Usage(input_tokens=1), overrides) is not None


def _from_override(usage: Usage, price: Mapping[str, float]) -> Decimal:
    input_price = price.get("input", 0.0)
    parts = (
        (usage.input_tokens, input_price),
        (usage.output_tokens, price.get("output", 0.0)),
        # The dearest and the cheapest that Anthropic bills, relative to the input price.
        (usage.cache_write_tokens, price.get("cache_write", 2 * input_price)),
        (usage.cache_write_1h_tokens, price.get("cache_write_1h", 2 * input_price)),
        (usage.cache_read_tokens, price.get("cache_read", 0.1 * input_price)),
        (usage.web_searches, price.get("web_search", 10_000.0)),
    )
    return sum((count * Decimal(str(per_million)) for count, per_million in parts), Decimal()) / MILLION
