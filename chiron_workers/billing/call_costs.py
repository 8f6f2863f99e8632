"""The most that the next call of a model can cost: one rule for reservations and for the warnings of submit."""

from chiron_workers.billing.prices import Price, max_cost
from chiron_workers.runs.entries import MaxCost

FRAME_TOKENS = 1_000  # that the API adds to a prompt, such as its own words about tools


def next_call_cost(
    price: Price | None, *, prompt_tokens: int, reply_tokens: int, searches: int = 0
) -> MaxCost:
    """The most that a call can cost, in USD and in tokens; 0 USD where the model has no price.

    tokens = prompt_tokens + FRAME_TOKENS + reply_tokens. USD: the prompt and the frame at the dearest price of a prompt (a cache
    write kept for an hour: twice the input price), a reply of full length, and each search.

    Args:
        prompt_tokens: The most that the request can have: the tokens that the call before it was billed for, and a token for each
            byte that was added since. Of a first call all bytes count (`prompt_sizes.opening_bytes`).
        reply_tokens: The longest reply (`prompt_sizes.reply_tokens`).
    """
    return max_cost(
        price, prompt_tokens=prompt_tokens + FRAME_TOKENS, reply_tokens=reply_tokens, searches=searches
    )
