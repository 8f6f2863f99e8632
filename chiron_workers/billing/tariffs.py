"""What the calls of one run cost: at the price in its row, whatever the worker that plays it knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from chiron_workers.billing.prices import NO_PRICE, Override, Price, price_of
from chiron_workers.runs.entries import Usage
from chiron_workers.runs.leases import Run

USD_MAX = Decimal(99_999_999)  # what a column of an amount holds


@dataclass(frozen=True, slots=True)
class Tariff:
    """The price of a run's model: whatever answers, what was asked is charged."""

    model: str
    price: Price | Literal["none"] | None
    is_frozen: bool

    @classmethod
    def of(cls, run: Run, overrides: Mapping[str, Override]) -> "Tariff":
        """The tariff of a run. A row of a version before has no price: `overrides` and the tables of this worker count."""
        if run.price is None:
            return cls(run.model, price_of(run.model, overrides), is_frozen=False)
        if isinstance(run.price, str):
            return cls(run.model, NO_PRICE, is_frozen=True)
        return cls(run.model, Price.of_json(run.price), is_frozen=True)

    @classmethod
    def of_model(cls, model: str, overrides: Mapping[str, Override]) -> "Tariff":
        """What a model's calls cost today."""
        return cls(model, price_of(model, overrides), is_frozen=False)

    @property
    def known_price(self) -> Price | None:
        """The price that money is reserved by."""
        return self.price if isinstance(self.price, Price) else None

    @property
    def keeps_budgets(self) -> bool:
        """Whether a budget in USD can be kept.

        A row of a version before has a budget even where its model was said to have no price, and plays.
        """
        return isinstance(self.price, Price) or (self.price == NO_PRICE and not self.is_frozen)

    def cost_usd(self, usage: Usage) -> Decimal | None:
        """What a reply costs, whatever model its server names; None where nobody knows."""
        price = self.known_price
        return None if price is None else min(price.cost_usd(usage), USD_MAX)
