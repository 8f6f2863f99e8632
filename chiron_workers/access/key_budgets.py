"""Budgets of keys: what batches of a key may cost together, reserved before any of it is spent."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.errors import KeyBudgetSpent
from chiron_workers.states import BudgetPeriod

SQL = load(__file__)
WORDS = {BudgetPeriod.DAY: "a day", BudgetPeriod.TOTAL: "in all"}
MICRO_USD = Decimal("0.000001")


async def reserve(
    connection: AsyncConnection[DictRow], key_id: UUID | None, budget_usd: Decimal | None
) -> Decimal | None:
    """What a new batch of a key may cost: its budget, or all that the key has left. None where nothing binds it.

    The key stays locked until the transaction ends, in which the batch is to be stored.

    Raises:
        KeyBudgetSpent: The key has less left than that, or nothing, or is no longer valid.
    """
    row = await _lock(connection, key_id)
    if row is None:
        return budget_usd
    if row["is_over"]:
        raise KeyBudgetSpent(
            f"The key {row['name']!r} was revoked or has expired, so nothing more is started with it."
        )
    if row["budget_usd"] is None:
        return budget_usd
    available_usd = row["budget_usd"] - await _committed(connection, key_id)
    if available_usd < MICRO_USD or (budget_usd is not None and budget_usd > available_usd):
        raise KeyBudgetSpent(
            _sentence(row, available_usd, f"this asks for {_usd(budget_usd)}" if budget_usd else "")
        )
    return available_usd.quantize(MICRO_USD) if budget_usd is None else budget_usd


async def require_room(connection: AsyncConnection[DictRow], target: UUID) -> None:
    """Raise KeyBudgetSpent where a batch, or that of a run, takes its key over its budget as it now stands.

    Call it in the transaction that opens the batch again or raises its budget.
    """
    batch = await (await connection.execute(SQL["key_of"], {"target": target})).fetchone()
    key_id = batch["key_id"] if batch else None
    row = await _lock(connection, key_id)
    if row is None or row["budget_usd"] is None:
        return
    sum_usd = await _committed(connection, key_id)
    if sum_usd > row["budget_usd"]:
        available_usd = row["budget_usd"] - sum_usd
        raise KeyBudgetSpent(_sentence(row, available_usd, "what goes on counts with its whole budget"))


async def committed_usd(pool: Pool, key_ids: Sequence[UUID]) -> dict[UUID, Decimal]:
    """What batches of each key have spent or may still spend, in the period of its budget."""
    rows = await fetch_all(pool, SQL["committed"], {"key_ids": list(key_ids)})
    return {row["key_id"]: Decimal(row["usd"]) for row in rows}


async def _lock(connection: AsyncConnection[DictRow], key_id: UUID | None) -> DictRow | None:
    if key_id is None:
        return None
    return await (await connection.execute(SQL["lock"], {"key_id": key_id})).fetchone()


async def _committed(connection: AsyncConnection[DictRow], key_id: UUID | None) -> Decimal:
    row = await fetch_one(connection, SQL["committed"], {"key_ids": [key_id]})
    return Decimal(row["usd"])


def _sentence(row: DictRow, available_usd: Decimal, reason: str) -> str:
    period = WORDS[BudgetPeriod(row["budget_period"])]
    sentence = f"The key {row['name']!r} may spend {_usd(row['budget_usd'])} USD {period}"
    if available_usd < 0:
        return f"{sentence}, and this would take it {_usd(-available_usd)} USD over that: {reason}."
    remainder = f"{sentence} and has {_usd(available_usd)} USD left{f'; {reason} USD' if reason else ''}."
    return f"{remainder} An open batch holds its whole budget until it ends: name a budget for each, or wait."


def _usd(amount: Decimal | None) -> str:
    return f"{(amount or Decimal(0)).normalize():,f}"
