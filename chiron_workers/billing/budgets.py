"""Budgets of batches and runs: which amounts are allowed, and how one is raised. `reservations.py` enforces them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.access.allotments import LockedBatch, change, lock_batch, raise_runs
from chiron_workers.access.principals import Principal
from chiron_workers.billing.prices import NO_PRICE, is_known, is_priced, model_suggestion, price_of
from chiron_workers.db.connect import fetch_one
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.settings import settings

BUDGETS_SQL = Path(__file__).with_suffix(".sql")  # other modules' queries have parts of them
SQL = load(__file__)
USD_MAX = Decimal(10_000_000)
USD_MIN = Decimal("0.000001")
TOKENS_MAX = 10**15
_NOT_BINDING = (
    "The price of {model} is not known, so no budget in USD can bind it.{suggestion} Set it in CHIRON_PRICES, "
    "give a budget in tokens, or leave the budget out."
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a batch or a run may cost in all; None does not bind."""

    usd: Decimal | None = None
    tokens: int | None = None


def check_budget(budget: Budget, models: Sequence[str]) -> None:
    """Raises UsageError for a budget that is no amount, or that cannot bind since a model's price is not known."""
    check_amounts(budget)
    if budget.usd is None:
        return
    for model in models:
        if not is_priced(model, settings().prices):
            raise UsageError(
                _NOT_BINDING.format(model=model, suggestion=model_suggestion(model, settings().prices))
            )


def check_amounts(budget: Budget) -> None:
    """Raises UsageError for a budget that is no amount."""
    if budget.tokens is not None and not 0 < budget.tokens <= TOKENS_MAX:
        raise UsageError(f"The budget must be between 1 and {TOKENS_MAX:,} tokens (got {budget.tokens:,}).")
    if budget.usd is not None and not USD_MIN <= budget.usd <= USD_MAX:
        raise UsageError(f"The budget must be above 0 and at most {USD_MAX:,} USD (got {budget.usd}).")


def check_model(model: str) -> None:
    """Raises UsageError for a model of which neither a price nor that it has none is configured."""
    if not is_known(model, settings().prices):
        hint = model_suggestion(model, settings().prices)
        raise UsageError(
            f'The price of {model} is not known.{hint} Set it in CHIRON_PRICES, or say that it has none: {{"{model}": "none"}}.'
        )


def frozen_price(model: str) -> str | None:
    """A model's price as the row of a run keeps it; None where nothing is known of it."""
    price = price_of(model, settings().prices)
    return None if price is None else json.dumps(NO_PRICE if isinstance(price, str) else price.to_json())


def run_budget_usd(budget: Budget, model: str) -> Decimal | None:
    """What a run may cost: its own budget or else the default, which a model that is said to have no price lacks."""
    if budget.usd is not None:
        return budget.usd
    return None if price_of(model, settings().prices) == NO_PRICE else settings().run_budget_usd


async def freeze_missing_prices(connection: AsyncConnection[DictRow], target: UUID) -> None:
    """Give runs that have no price the one known here, before they go on; versions before wrote none.

    Raises:
        UsageError: A run waits for its price, and it is not known here either.
    """
    for row in await (await connection.execute(SQL["without_price"], {"target": target})).fetchall():
        price = frozen_price(row["model"])
        if price is None and row["waits"]:
            check_model(row["model"])
        is_said_to_have_none = price == json.dumps(NO_PRICE)
        if price is not None and (row["waits"] or not is_said_to_have_none):
            args = {"target": target, "model": row["model"], "price": price, "unbound": is_said_to_have_none}
            await connection.execute(SQL["freeze_price"], args)


async def raise_run_budgets(
    connection: AsyncConnection[DictRow], batch_id: UUID, budget: Budget
) -> dict[UUID, Decimal]:
    """Raise the budgets of open runs of a batch. Returns by how many USD each of those that had less grew.

    Runs that have none, or a higher one, keep it. `pay_for_runs` charges for it, once the batch is locked.

    Raises:
        UsageError: The budget is not an amount, or cannot bind.
    """
    if budget == Budget():
        return {}
    args = {
        "target": batch_id,
        "batch_id": batch_id,
        "budget_usd": budget.usd,
        "budget_tokens": budget.tokens,
    }
    await _check_binding(connection, budget, args)
    rows = await (await connection.execute(SQL["raise_runs"], args)).fetchall()
    return {row["id"]: Decimal(row["growth_usd"]) for row in rows}


async def pay_for_runs(
    connection: AsyncConnection[DictRow],
    principal: Principal,
    batch: LockedBatch,
    growths_usd: Mapping[UUID, Decimal],
) -> None:
    """Charge the caller's key for the growth of run budgets, where no budget binds their batch. Raises KeyBudgetSpent."""
    if batch.budget_usd is None and not batch.has_ended:
        paid = {run_id: growth_usd for run_id, growth_usd in growths_usd.items() if growth_usd}
        await raise_runs(connection, principal, batch, paid)


async def set_budget(
    connection: AsyncConnection[DictRow],
    target: UUID,
    budget: Budget,
    *,
    batch_id: UUID,
    principal: Principal,
) -> LockedBatch:
    """Give a batch or a run a new budget, if one is given, and make sure that what it has leaves room; its batch, locked.

    Who acts pays for what a budget grows by: that of the batch, or that of a run where none binds the batch. The first budget of
    a batch grows from what it has spent and its open runs have left, who share it from then on. What a budget shrinks by is
    returned. A batch that has ended holds no money: who opens it again pays for the rest.

    Raises:
        UsageError: The budget is not an amount, or cannot bind.
        Conflict: The budget of the run or of its batch is spent, or would be less than is spent and reserved.
        KeyBudgetSpent: The principal's key has less left than the budget grows by.
    """
    args = {
        "target": target,
        "batch_id": batch_id,
        "budget_usd": budget.usd,
        "budget_tokens": budget.tokens,
    }
    if budget != Budget():
        await _check_binding(connection, budget, args)
    # The run before its batch, as everywhere.
    run = await (await connection.execute(SQL["lock_run"], args)).fetchone()
    batch = await lock_batch(connection, batch_id)
    if run is None:
        await connection.execute(SQL["set_of_batch"], args)
    else:
        row = await (await connection.execute(SQL["set_of_run"], args)).fetchone()
        _require_room(f"Run {target}", row, budget)
    row = await (await connection.execute(SQL["of_batch"], args)).fetchone()
    _require_room(f"Batch {batch_id}", row, budget if run is None else Budget())
    before_usd = run["budget_usd"] if run else await _bound_usd(connection, batch)
    is_payer = run is None or batch.budget_usd is None
    if budget.usd is not None and before_usd is not None and is_payer and not batch.has_ended:
        run_id = None if run is None else target
        await change(connection, principal, batch, budget.usd - before_usd, run_id=run_id)
    return batch


async def _bound_usd(connection: AsyncConnection[DictRow], batch: LockedBatch) -> Decimal | None:
    """What a batch may cost: its budget, or else what it has spent and its open runs have left; None where nothing binds it."""
    if batch.budget_usd is not None:
        return batch.budget_usd
    row = await fetch_one(connection, SQL["bound"], {"batch_id": batch.id})
    return None if row["usd"] is None else Decimal(row["usd"])


async def _check_binding(
    connection: AsyncConnection[DictRow], budget: Budget, args: Mapping[str, object]
) -> None:
    rows = await (await connection.execute(SQL["models"], args)).fetchall()
    check_budget(budget, [row["model"] for row in rows if row["price"] is None])
    for row in rows:
        if budget.usd is not None and row["price"] == NO_PRICE:
            raise UsageError(_NOT_BINDING.format(model=row["model"], suggestion=""))


def _require_room(owner: str, row: DictRow | None, new: Budget) -> None:
    if row is None:
        return
    _require_reserved(owner, row, new)
    if row["budget_usd"] is not None and row["spent_usd"] >= row["budget_usd"]:
        raise Conflict(
            f"{owner} has spent {row['spent_usd']:.4f} of its {row['budget_usd']:.4f} USD. "
            "Resume it with a higher budget (budget_usd) to go on."
        )
    if row["budget_tokens"] is not None and row["spent_tokens"] >= row["budget_tokens"]:
        raise Conflict(
            f"{owner} has spent {row['spent_tokens']:,} of its {row['budget_tokens']:,} tokens. "
            "Resume it with a higher budget (budget_tokens) to go on."
        )


def _require_reserved(owner: str, row: DictRow, new: Budget) -> None:
    """Refuse a new budget that is less than what is spent and what calls in flight have reserved."""
    if new.usd is not None and row["reserved_usd"] and new.usd < row["spent_usd"] + row["reserved_usd"]:
        raise Conflict(
            f"{owner} has spent {row['spent_usd']:.4f} USD, and calls in flight have {row['reserved_usd']:.4f} USD reserved: "
            f"its budget is at least {row['spent_usd'] + row['reserved_usd']:f} USD until they are answered."
        )
    least_tokens = row["spent_tokens"] + row["reserved_tokens"]
    if new.tokens is not None and row["reserved_tokens"] and new.tokens < least_tokens:
        raise Conflict(
            f"{owner} has spent {row['spent_tokens']:,} tokens, and calls in flight have {row['reserved_tokens']:,} reserved: "
            f"its budget is at least {least_tokens:,} tokens until they are answered."
        )
