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
    """The price of a run's model, and how a reply is billed that another model has written."""

    model: str
    price: Price | Literal["none"] | None
    overrides: Mapping[str, Override]
    is_frozen: bool

    @classmethod
    def of(cls, run: Run, overrides: Mapping[str, Override]) -> "Tariff":
        """The tariff of a run. A row of a version before has no price: `overrides` and the tables of this worker count."""
        if run.price is None:
            return cls(run.model, price_of(run.model, overrides), overrides, is_frozen=False)
        if isinstance(run.price, str):
            return cls(run.model, NO_PRICE, overrides, is_frozen=True)
        return cls(run.model, Price.of_json(run.price), overrides, is_frozen=True)

    @classmethod
    def of_model(cls, model: str, overrides: Mapping[str, Override]) -> "Tariff":
        """What a model's calls cost today."""
        return cls(model, price_of(model, overrides), overrides, is_frozen=False)

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

    def cost_usd(self, answering_model: str, usage: Usage) -> Decimal | None:
        """What a reply costs; None where nobody knows.

        A price that somebody set is what each reply costs. Else a server may name another model, by which it bills: a
        longer name of the same one costs the same in the tables, and so the run's price stays.
        """
        price = self.known_price
        if self.price is None or (price is not None and price.source == "tables"):
            price = self._price_of_other(answering_model) or price
        return None if price is None else min(price.cost_usd(usage), USD_MAX)

    def _price_of_other(self, answering_model: str) -> Price | None:
        if answering_model == self.model:
            return None
        other_price = price_of(answering_model, {})
        has_other_price = isinstance(other_price, Price) and other_price != price_of(self.model, {})
        return other_price if has_other_price and isinstance(other_price, Price) else None
