"""The prices of genai-prices, as steps: what each kind of token costs in prompts of which length."""

from dataclasses import fields
from datetime import date
from decimal import Decimal
from functools import lru_cache

from chiron_workers.runs.entries import Usage

MILLION = Decimal(1_000_000)
COUNTS = tuple(field.name for field in fields(Usage))
# Prompts longer than so many tokens, and USD per million of each count of `Usage`.
Step = tuple[int, tuple[Decimal, ...]]


@lru_cache(maxsize=64)
def steps_of(model: str, day: date) -> tuple[Step, ...]:
    """The steps of a model's price on a day, by ascending length of the prompt; none where the tables lack it."""
    import genai_prices

    try:
        price = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=1), model, provider_id="anthropic"
        ).model_price
    except LookupError:
        return ()
    starts = {tier.start for tiered in vars(price).values() for tier in getattr(tiered, "tiers", ())}
    return tuple((start, _rates_above(model, start)) for start in sorted({0} | starts))


def model_names() -> list[str]:
    """The models that the tables have a price for."""
    from genai_prices.data import providers

    return [model.id for provider in providers if provider.id == "anthropic" for model in provider.models]


def _rates_above(model: str, start: int) -> tuple[Decimal, ...]:
    # By differences: a step of a price holds for the whole prompt, so a longer one is the same step.
    prompt = {"input_tokens": start + 1}
    least = _calculate(model, Usage(**prompt))
    costs = (_calculate(model, Usage(**(prompt | {name: prompt.get(name, 0) + 1}))) for name in COUNTS)
    return tuple((cost - least) * MILLION for cost in costs)


def _calculate(model: str, usage: Usage) -> Decimal:
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
    return genai_prices.calc_price(usage_counts, model, provider_id="anthropic").total_price
