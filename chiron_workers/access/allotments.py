"""The ledger of the money that keys allot to batches. The acting key pays, so each act adds a row; a model call adds none.

Calls draw on the budgets of their run and batch. Calls of hosted services outside of runs draw on the key, which has one row a
day for each service. A key has left what its budget exceeds the sum of its rows by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.access.principals import Principal
from chiron_workers.db.connect import Pool, fetch_all, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.errors import KeyBudgetSpent, UsageError
from chiron_workers.states import AllotmentAct, BudgetPeriod

SQL = load(__file__)
WORDS = {BudgetPeriod.DAY: "a day", BudgetPeriod.TOTAL: "in all"}
MICRO_USD = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class LockedBatch:
    """A batch whose row this transaction has locked, with the values at that time."""

    id: UUID
    has_ended: bool
    budget_usd: Decimal | None


async def reserve(
    connection: AsyncConnection[DictRow], key_id: UUID | None, budget_usd: Decimal | None
) -> Decimal | None:
    """The most that a new batch of a key may cost: its budget, or all that the key has left. None: unlimited.

    The key stays locked until the end of the transaction, which has to insert the batch; a trigger adds the row of the ledger.

    Raises:
        KeyBudgetSpent: The key has less left than that, or nothing, or is no longer valid.
    """
    key = await _lock_key(connection, key_id)
    if key is None or key["budget_usd"] is None:
        return budget_usd
    left_usd = await _left_usd(connection, key_id, key)
    if left_usd < MICRO_USD or (budget_usd is not None and budget_usd > left_usd):
        raise KeyBudgetSpent(
            _sentence(key, left_usd, f"this asks for {_usd(budget_usd)}" if budget_usd else "")
        )
    return left_usd.quantize(MICRO_USD) if budget_usd is None else budget_usd


async def lock_batch(connection: AsyncConnection[DictRow], batch_id: UUID) -> LockedBatch:
    """Lock a batch before an act that may change its allotments. Lock its runs first, as everywhere."""
    row = await fetch_one(connection, SQL["lock_batch"], {"batch_id": batch_id})
    return LockedBatch(batch_id, row["has_ended"], row["budget_usd"])


async def change(
    connection: AsyncConnection[DictRow],
    principal: Principal,
    batch: LockedBatch,
    difference_usd: Decimal,
    *,
    run_id: UUID | None = None,
) -> None:
    """Charge the acting key for what a budget grows by, or return what it shrinks by to the latest payers first.

    Args:
        run_id: The run whose budget changes. None: the budget of the batch.

    Raises:
        KeyBudgetSpent: The acting key has less left, or is no longer valid.
    """
    if difference_usd > 0:
        await _allot(connection, principal, AllotmentAct.RAISE, batch.id, difference_usd, run_id=run_id)
    elif difference_usd < 0:
        args = {"batch_id": batch.id, "run_id": run_id, "amount_usd": -difference_usd}
        await connection.execute(SQL["take_back"], args)


async def raise_runs(
    connection: AsyncConnection[DictRow],
    principal: Principal,
    batch: LockedBatch,
    growths_usd: Mapping[UUID, Decimal],
) -> None:
    """Charge the acting key for the growth of run budgets. Raises KeyBudgetSpent as `change`."""
    if not growths_usd:
        return
    await _require_left(connection, principal, sum(growths_usd.values(), Decimal()))
    args = {
        "act": AllotmentAct.RAISE,
        "owner": principal.owner,
        "key_id": principal.key_id,
        "batch_id": batch.id,
        "run_ids": list(growths_usd),
        "amounts_usd": list(growths_usd.values()),
    }
    await connection.execute(SQL["insert_of_runs"], args)


async def reopen(
    connection: AsyncConnection[DictRow], principal: Principal, act: AllotmentAct, batch: LockedBatch
) -> None:
    """Charge the acting key for the rest of the budget of a batch that had ended. Earlier payers keep paying what was spent.

    A batch without a budget gets one from a key that has one: what was spent, plus what the key has left.

    Raises:
        KeyBudgetSpent: The acting key has less left, or is no longer valid.
        UsageError: The key has a budget, which cannot bind a model without a price.
    """
    if not batch.has_ended:
        return
    row = await fetch_one(connection, SQL["balance"], {"batch_id": batch.id})
    if row["budget_usd"] is not None:
        rest_usd = max(row["budget_usd"] - row["spent_usd"], Decimal())
        await _allot(connection, principal, act, batch.id, rest_usd)
        return
    left_usd = await reserve(connection, principal.key_id, None)
    if left_usd is not None:
        await _bind(connection, batch.id, row["spent_usd"] + left_usd)
    await _insert(connection, principal, act, batch.id, left_usd)


async def settle_runs(connection: AsyncConnection[DictRow], batch_id: UUID, run_ids: Sequence[UUID]) -> None:
    """Replace the allotments of runs by what they have spent, before they are deleted."""
    await connection.execute(SQL["settle_runs"], {"batch_id": batch_id, "run_ids": list(run_ids)})


async def committed_usd(pool: Pool, key_ids: Sequence[UUID]) -> dict[UUID, Decimal]:
    """What each key has allotted to open batches, plus what its ended ones spent in the period of its budget."""
    rows = await fetch_all(pool, SQL["committed"], {"key_ids": list(key_ids)})
    return {row["key_id"]: Decimal(row["usd"]) for row in rows}


async def key_budget(pool: Pool, key_id: UUID) -> tuple[str, Decimal | None]:
    """The name of a key and what it may spend; None where it has no budget."""
    row = (await fetch_all(pool, SQL["budget"], {"key_id": key_id}))[0]
    return row["name"], row["budget_usd"]


async def pay(pool: Pool, principal: Principal, service: str, amount_usd: Decimal) -> datetime:
    """Have the key of a principal pay for a call of a hosted service outside of a run; when, for `correct`.

    Raises:
        KeyBudgetSpent: The key has less left, or is no longer valid.
    """
    async with pool.connection() as connection, connection.transaction():
        key = await _lock_key(connection, principal.key_id)
        if key is not None and key["budget_usd"] is not None:
            left_usd = await _left_usd(connection, principal.key_id, key)
            if amount_usd > left_usd:
                raise KeyBudgetSpent(
                    _sentence(key, left_usd, f"a call of {service} asks for {_usd(amount_usd)}")
                )
        args = _service_args(principal, service, amount_usd)
        row = await fetch_one(connection, SQL["pay"], args | {"at": None})
    at: datetime = row["at"]
    return at


async def correct(
    pool: Pool, principal: Principal, service: str, difference_usd: Decimal, at: datetime
) -> None:
    """Add to what was paid for a call at a time, or take off what it did not cost."""
    await fetch_all(pool, SQL["pay"], _service_args(principal, service, difference_usd) | {"at": at})


def _service_args(principal: Principal, service: str, amount_usd: Decimal) -> dict[str, object]:
    return {
        "owner": principal.owner,
        "key_id": principal.key_id,
        "service": service,
        "amount_usd": amount_usd,
    }


async def _allot(  # a row has that many columns
    connection: AsyncConnection[DictRow],
    principal: Principal,
    act: AllotmentAct,
    batch_id: UUID,
    amount_usd: Decimal,
    *,
    run_id: UUID | None = None,
) -> None:
    await _require_left(connection, principal, amount_usd)
    await _insert(connection, principal, act, batch_id, amount_usd, run_id=run_id)


async def _require_left(
    connection: AsyncConnection[DictRow], principal: Principal, amount_usd: Decimal
) -> None:
    key = await _lock_key(connection, principal.key_id)
    if key is not None and key["budget_usd"] is not None:
        left_usd = await _left_usd(connection, principal.key_id, key)
        if amount_usd > left_usd:
            raise KeyBudgetSpent(_sentence(key, left_usd, f"this asks for {_usd(amount_usd)}"))


async def _insert(  # a row has that many columns
    connection: AsyncConnection[DictRow],
    principal: Principal,
    act: AllotmentAct,
    batch_id: UUID,
    amount_usd: Decimal | None,
    *,
    run_id: UUID | None = None,
) -> None:
    args = {
        "act": act,
        "owner": principal.owner,
        "key_id": principal.key_id,
        "batch_id": batch_id,
        "run_id": run_id,
        "amount_usd": amount_usd,
    }
    await connection.execute(SQL["insert"], args)


async def _bind(connection: AsyncConnection[DictRow], batch_id: UUID, budget_usd: Decimal) -> None:
    rows = await (await connection.execute(SQL["unpriced"], {"batch_id": batch_id})).fetchall()
    if rows:
        raise UsageError(
            f"The price of {rows[0]['model']} is not known, so the budget of your key cannot bind it. "
            "Act with a key that has no budget."
        )
    await connection.execute(SQL["bind"], {"batch_id": batch_id, "budget_usd": budget_usd})


async def _lock_key(connection: AsyncConnection[DictRow], key_id: UUID | None) -> DictRow | None:
    if key_id is None:
        return None
    row = await (await connection.execute(SQL["lock_key"], {"key_id": key_id})).fetchone()
    if row is not None and row["is_over"]:
        raise KeyBudgetSpent(
            f"The key {row['name']!r} was revoked or has expired, so nothing more is started with it."
        )
    return row


async def _left_usd(connection: AsyncConnection[DictRow], key_id: UUID | None, key: DictRow) -> Decimal:
    row = await fetch_one(connection, SQL["committed"], {"key_ids": [key_id]})
    left_usd: Decimal = key["budget_usd"] - row["usd"]
    return left_usd


def _sentence(key: DictRow, left_usd: Decimal, reason: str) -> str:
    period = WORDS[BudgetPeriod(key["budget_period"])]
    sentence = f"The key {key['name']!r} may spend {_usd(key['budget_usd'])} USD {period}"
    if left_usd < 0:
        return f"{sentence}, and is {_usd(-left_usd)} USD over that{f'; {reason} USD' if reason else ''}."
    remainder = f"{sentence} and has {_usd(left_usd)} USD left{f'; {reason} USD' if reason else ''}."
    return f"{remainder} An open batch holds its whole budget until it ends: name a budget for each, or wait."


def _usd(amount: Decimal | None) -> str:
    return f"{(amount or Decimal(0)).normalize():,f}"
