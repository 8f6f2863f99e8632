from dataclasses import dataclass

from chiron_workers.batches.submit import NO_BUDGET
from chiron_workers.billing.budgets import Budget


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """Who writes a lesson or questions, and for how much; `is_fresh` where that is done again from the same facts.

    `key` is the idempotency key; None: one that facts, model and bounds make up.
    """

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False
    key: str | None = None
