from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from chiron_workers.entries import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

FREE = frozenset({"offline"})
MILLION = Decimal(1_000_000)


def cost_usd(model: str, usage: Usage, overrides: Mapping[str, Mapping[str, float]]) -> Decimal | None:
    """What a reply costs in USD; None where the model's price is not known.

    A price in `overrides` (USD per million tokens: input, output, cache_write, cache_read, web_search) goes before the
    tables of genai-prices.
    """
    if model in FREE:
        return Decimal()
    if model in overrides:
        return _from_override(usage, overrides[model])
    found = _find(model)
    if found is None:
        return None
    from genai_prices import Usage as Billed

    billed = Billed(
        # genai-prices counts cached tokens as part of the input; the API reports them beside it.
        input_tokens=usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        **({"web_searches": usage.web_searches} if usage.web_searches else {}),
    )
    provider, priced = found
    return priced.calc_price(billed, provider).total_price


@lru_cache(maxsize=64)
def _find(model: str) -> "tuple[Provider, ModelInfo] | None":
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, "anthropic", None)
    except LookupError:
        return None


def is_priced(model: str, overrides: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether the price of a model is known, so that a budget can bind it."""
    return cost_usd(model, Usage(input_tokens=1), overrides) is not None


def _from_override(usage: Usage, price: Mapping[str, float]) -> Decimal:
    input_price = price.get("input", 0.0)
    parts = (
        (usage.input_tokens, input_price),
        (usage.output_tokens, price.get("output", 0.0)),
        # The dearest and the cheapest that Anthropic bills, relative to the input price.
        (usage.cache_write_tokens, price.get("cache_write", 2 * input_price)),
        (usage.cache_read_tokens, price.get("cache_read", 0.1 * input_price)),
        (usage.web_searches, price.get("web_search", 10_000.0)),
    )
    return sum((count * Decimal(str(per_million)) for count, per_million in parts), Decimal()) / MILLION
