"""What a call can cost at most never lies below what it is billed."""

import json
from decimal import Decimal

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.billing.prices import Price, cost_usd, is_known, is_priced, max_cost, price_of
from chiron_workers.runs.entries import Usage

OVERRIDES = {
    "tiny": {"input": 1.0, "output": 2.0},
    "odd": {"input": 3.0, "output": 1.0, "cache_write": 9.0, "cache_read": 0.5, "web_search": 5_000.0},
    "quiet": "none",
}
MODELS = [
    "claude-opus-5-5",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "claude-opus-4-1",
    "tiny",
    "odd",
    "offline",
]
COUNTS = st.integers(min_value=0, max_value=500_000)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.integers(0, 10))


@given(st.sampled_from(MODELS), USAGES, COUNTS, COUNTS)
def test_no_bill_is_above_the_bound_however_the_prompt_is_cached(
    model: str, usage: Usage, slack: int, unsaid: int
) -> None:
    prompt_tokens, reply_tokens = usage.tokens - usage.output_tokens + slack, usage.output_tokens + unsaid
    price = price_of(model, OVERRIDES)
    assert isinstance(price, Price)
    most = max_cost(
        price,
        prompt_tokens=prompt_tokens,
        reply_tokens=reply_tokens,
        searches=usage.web_searches,
    )
    billed = cost_usd(model, usage, OVERRIDES)
    assert billed is not None
    assert billed <= most.usd
    assert usage.tokens <= most.tokens


@given(COUNTS, COUNTS)
def test_an_hour_in_the_cache_is_within_the_bound(tokens: int, replied: int) -> None:
    billed = (Decimal(2 * 4 * tokens) + Decimal(20 * replied)) / 1_000_000  # twice the input price of $4
    price = price_of("claude-opus-5-5", {})
    assert isinstance(price, Price)
    assert billed <= max_cost(price, prompt_tokens=tokens, reply_tokens=replied).usd


def test_a_model_without_a_price_is_bound_by_its_tokens_alone() -> None:
    most = max_cost(None, prompt_tokens=70, reply_tokens=30)
    assert (most.usd, most.tokens) == (0, 100)
    assert cost_usd("quiet", Usage(1_000, 1_000), OVERRIDES) is None


@pytest.mark.parametrize(
    ("model", "priced", "known"), [("tiny", True, True), ("quiet", False, True), ("nobody", False, False)]
)
def test_a_price_is_known_unknown_or_said_to_be_none(model: str, priced: bool, known: bool) -> None:
    assert (is_priced(model, OVERRIDES), is_known(model, OVERRIDES)) == (priced, known)


@given(st.sampled_from([model for model in MODELS if model.startswith("claude")]), USAGES)
def test_a_frozen_price_bills_as_the_tables_do_at_any_length_of_the_prompt(model: str, usage: Usage) -> None:
    price = price_of(model, {})
    assert isinstance(price, Price)
    counts = genai_prices.Usage(
        input_tokens=usage.tokens - usage.output_tokens,
        output_tokens=usage.output_tokens,
        cache_write_tokens=usage.written_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        web_searches=usage.web_searches,
    )
    assert (
        price.cost_usd(usage) == genai_prices.calc_price(counts, model, provider_id="anthropic").total_price
    )


@given(st.sampled_from(MODELS), USAGES)
def test_a_price_that_a_row_kept_bills_to_the_last_digit_as_before(model: str, usage: Usage) -> None:
    price = price_of(model, OVERRIDES)
    assert isinstance(price, Price)
    stored_price = Price.of_json(json.loads(json.dumps(price.to_json())))
    assert stored_price == price
    assert stored_price.cost_usd(usage) == price.cost_usd(usage)
