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
        budget = "no budget" if self.budget_usd is None else f"{_shown(self.budget_usd)} USD each time"
        end = (
            "no end"
            if self.ends_at is None
            else f"an end at {self.ends_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        )
        return f"model {self.model}, {budget} and {end}"


def occurrence_budget(
    wanted_usd: Decimal | None, model: str, *, run_may_cost: Decimal | None
) -> Decimal | None:
    """What one time may cost: what is wanted, or as much as is allowed; None if the model has no price.

    Args:
        run_may_cost: In USD, the budget of the run that orders it or of its batch. None: there is no such budget.

    Raises:
        UsageError: It is more than allowed, no amount, or cannot bind.
    """
    most, whose = settings().run_budget_usd, "what a run may cost (CHIRON_RUN_BUDGET_USD)"
    if run_may_cost is not None and run_may_cost < most:
        most, whose = run_may_cost, "the budget of the run that orders it, or of its batch"
    if wanted_usd is None:
        return most.quantize(MICRO_USD) if is_priced(model, settings().prices) else None
    check_budget(Budget(wanted_usd), [model])
    if wanted_usd > most:
        raise UsageError(f"A time may cost at most {_shown(most)} USD, {whose}; got {_shown(wanted_usd)}.")
    return wanted_usd.quantize(MICRO_USD)


def _shown(usd: Decimal) -> str:
    return f"{usd.normalize():,f}"
