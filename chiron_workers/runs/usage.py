"""What runs have used: the one definition of tokens and cost, which `usage.sql` computes and all that shows them reads."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Protocol

USAGE_SQL = Path(__file__).with_suffix(".sql")


class TokenCounts(Protocol):
    """Tokens by how they are billed; no two counts overlap, and together they are what a budget in tokens counts."""

    @property
    def input_tokens(self) -> int:
        """Read fresh, at the full price."""

    @property
    def cache_write_tokens(self) -> int:
        """Read, and written to the prompt cache."""

    @property
    def cache_read_tokens(self) -> int:
        """Read from the prompt cache."""

    @property
    def output_tokens(self) -> int:
        """Written by the model."""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What a run or several have used. `spent_usd` is None where the cost of a call is not known.

    `spent_usd_min` is what is known of it, and `unpriced_calls` counts the calls of which nobody knows. `unconfirmed_usd`
    is what calls may have cost whose replies are lost; None where nobody knows. `services_usd` is the part of `spent_usd` that
    hosted embedding models and search providers charge, and None where the price of one is not known.
    """

    input_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    output_tokens: int
    spent_usd: Decimal | None
    spent_usd_min: Decimal
    services_usd: Decimal | None
    services_usd_min: Decimal
    unpriced_calls: int
    unconfirmed_usd: Decimal | None
    unconfirmed_calls: int
