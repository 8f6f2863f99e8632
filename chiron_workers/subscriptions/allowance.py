"""What each time of a subscription costs at most, with which model, and until when."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from chiron_workers.batches.submit import MICRO_USD
from chiron_workers.billing.budgets import Budget, check_budget
from chiron_workers.billing.prices import is_priced
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings


@dataclass(frozen=True, slots=True)
class Allowance:
    """On what terms research recurs; `budget_usd` is for all topics of one time together, None where no price is known."""

    model: str
    budget_usd: Decimal | None
    ends_at: datetime | None  # None: never

    def __str__(self) -> str:
        budget = "no budget" if self.budget_usd is None else f"{_format_usd(self.budget_usd)} USD each time"
        end = "no end" if self.ends_at is None else f"an end at {_format_time(self.ends_at)}"
        return f"model {self.model}, {budget} and {end}"


def occurrence_budget(
    budget_usd: Decimal | None, model: str, *, run_may_cost: Decimal | None
) -> Decimal | None:
    """What one time may cost: what is wanted, or as much as is allowed; None if the model has no price.

    Args:
        run_may_cost: In USD, the budget of the run that orders it or of its batch. None: there is no such budget.

    Raises:
        UsageError: It is more than allowed, no amount, or cannot bind.
    """
    limit_usd, limit_name = settings().run_budget_usd, "what a run may cost (CHIRON_RUN_BUDGET_USD)"
    if run_may_cost is not None and run_may_cost < limit_usd:
        limit_usd, limit_name = run_may_cost, "the budget of the run that orders it, or of its batch"
    if budget_usd is None:
        return limit_usd.quantize(MICRO_USD) if is_priced(model, settings().prices) else None
    check_budget(Budget(budget_usd), [model])
    if budget_usd > limit_usd:
        raise UsageError(
            f"A time may cost at most {_format_usd(limit_usd)} USD, {limit_name}; got {_format_usd(budget_usd)}."
        )
    return budget_usd.quantize(MICRO_USD)


def _format_usd(usd: Decimal) -> str:
    return f"{usd.normalize():,f}"


def _format_time(time: datetime) -> str:
    try:
        return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except OverflowError:  # the first or the last day there is, elsewhere in the world
        return time.isoformat()
