"""Enforces every budget (a run's, its batch's, the day's): a model call reserves what it can cost before it is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.billing.spending import SPENDING_SQL
from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.pipelines import Statement, send
from chiron_workers.db.queries import load
from chiron_workers.errors import BudgetSpent, LeaseLost, MoneyReserved, PriceUnknown
from chiron_workers.problems import CONTINUE, CONTINUE_BATCH, Remedy, change_setting
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.fence import lease_columns, shard_of
from chiron_workers.runs.leases import Run
from chiron_workers.runs.reservation import RESERVATION_SQL, reservation_columns
from chiron_workers.runs.session import BEGIN, COMMIT

SQL = load(__file__, RESERVATION_SQL, SPENDING_SQL)
MODEL_CHARS_SHOWN = 80
BUDGETS_OF_ROWS = {"The run": "run", "The batch": "batch"}  # by whose they are; a day's stands in no row
TOMORROW_REMEDY = "Runs go on tomorrow (days are UTC), or with a higher CHIRON_DAILY_BUDGET_USD."

NO_DAY_REMEDY = (
    "No day has room for it: raise CHIRON_DAILY_BUDGET_USD or lower CHIRON_MAX_TOKENS, then continue."
)


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget's limit, what was spent of it (unconfirmed calls included), and what calls in flight have reserved.

    `remedy` is a sentence where a higher budget does not help; `cost_to_finish` computes that amount for readers.
    """

    owner: str
    unit: str
    limit: Decimal | int | None
    spent: Decimal | int
    reserved: Decimal | int
    remedy: str = ""

    def require(self, amount: Decimal | int) -> None:
        """Whether a call that may cost `amount` still fits.

        Raises:
            BudgetSpent: It does not, whatever becomes of the calls in flight.
            MoneyReserved: It may fit once some of them are answered.
        """
        if self.limit is None or self.spent + self.reserved + amount <= self.limit:
            return
        if self.spent + amount > self.limit:
            raise BudgetSpent(
                self._shortage(amount), limit=self._limit_columns(amount), remedies=self._remedies()
            )
        raise MoneyReserved(f"{self.owner} has the rest of its budget reserved for calls in flight.")

    def _shortage(self, amount: Decimal | int) -> str:
        assert self.limit is not None
        if self.spent:
            reason = (
                f"{self.owner} has spent {self._amount(self.spent)} of its {self._amount(self.limit)}, "
                f"and the next call may cost {self._amount(amount)}."
            )
        else:
            reason = (
                f"{self.owner} may cost {self._amount(self.limit)}, which cannot pay one call: it may "
                f"cost {self._amount(amount)}."
            )
        return f"{reason} {self.remedy}".rstrip()

    def _limit_columns(self, amount: Decimal | int) -> dict[str, str]:
        budget = BUDGETS_OF_ROWS.get(self.owner)
        if budget is None:
            return {}
        return {
            "budget": budget,
            "unit": self.unit,
            "limit": str(self.limit),
            "least": str(self.spent + amount),
            "next": str(amount),
        }

    def _remedies(self) -> tuple[Remedy, ...]:
        match BUDGETS_OF_ROWS.get(self.owner):
            case "run":
                return (CONTINUE,)
            case "batch":
                return (CONTINUE_BATCH,)
        return (change_setting("CHIRON_DAILY_BUDGET_USD"), CONTINUE_BATCH)

    def _amount(self, value: Decimal | int) -> str:
        return f"{value:,.4f} USD" if self.unit == "usd" else f"{value:,} tokens"


async def reserve(
    pool: Pool, run: Run, max_cost: MaxCost, *, daily_usd: Decimal | None, lease_for: timedelta
) -> None:
    """Set aside what a call may cost at most, from every budget that binds it: its run's, its batch's, the day's.

    The run is ours for `lease_for` from now. Like `release` and `write_off` it is safe to repeat: `max_cost.call` says
    whether it was done.

    Raises:
        BudgetSpent: A budget has no room for the call.
        PriceUnknown: A budget in USD binds the call, and nobody knows what it costs.
        MoneyReserved: It will have room if calls in flight cost less than was reserved for them.
        LeaseLost: The run is no longer ours.
    """
    async with pool.connection() as connection:
        args = _args(run, max_cost) | {"daily_usd": daily_usd, "lease_for": lease_for}
        if await (await connection.execute(SQL["reserve"], args)).fetchone():
            return
        if await _reserve_at_once(connection, args, has_day=daily_usd is not None):
            return
        async with connection.transaction():
            await _reserve_from_all(connection, run, max_cost, args, daily_usd=daily_usd)


async def release(pool: Pool, run: Run, max_cost: MaxCost) -> None:
    """Free what was reserved for a call that surely is not billed. Raises LeaseLost."""
    await _write_fenced(pool, run, max_cost, "release")


async def write_off(pool: Pool, run: Run, max_cost: MaxCost) -> None:
    """Count a call that was cut as unconfirmed, with all that was reserved for it. Raises LeaseLost."""
    await _write_fenced(pool, run, max_cost, "write_off")


async def _reserve_at_once(
    connection: AsyncConnection[DictRow], args: dict[str, Any], *, has_day: bool
) -> bool:
    """Whether every budget has room for the call, which is reserved then.

    One journey to Postgres: whoever waits for a lock waits for no process that is busy. Why there is no room, `_reserve_from_all`
    says.
    """
    locks = [Statement(SQL[name], args) for name in ("lock_run", "lock_batch")]
    if has_day:
        locks.append(Statement(SQL["lock_day"]))
    # BEGIN and COMMIT as statements: psycopg's own transaction enters a second pipeline, and a cancel there leaves the
    # connection in the first one.
    *_, rows, _ = await send(connection, (BEGIN, *locks, Statement(SQL["reserve_from_all"], args), COMMIT))
    return bool(rows)


async def _reserve_from_all(
    connection: AsyncConnection[DictRow],
    run: Run,
    max_cost: MaxCost,
    args: dict[str, Any],
    *,
    daily_usd: Decimal | None,
) -> None:
    run_row = await (await connection.execute(SQL["lock_run"], args)).fetchone()
    if run_row is None:
        raise LeaseLost(run.id)
    if run_row["is_reserved"]:
        return
    _require_price(run, "The run", run_row, max_cost)
    for balance in _balances("The run", run_row):
        balance.require(args[balance.unit])
    if run_row["is_bound"]:
        await _require_batch_budget(connection, run, max_cost, args)
    if daily_usd is not None:
        await _require_daily_budget(connection, args, daily_usd)
    await connection.execute(SQL["add"], args)


async def _require_batch_budget(
    connection: AsyncConnection[DictRow], run: Run, max_cost: MaxCost, args: dict[str, Any]
) -> None:
    await connection.execute(SQL["lock_batch"], args)
    row = await fetch_one(connection, SQL["balance_of_batch"], args)
    _require_price(run, "The batch", row, max_cost)
    for balance in _balances("The batch", row):
        balance.require(args[balance.unit])


def _require_price(run: Run, owner: str, row: DictRow, max_cost: MaxCost) -> None:
    if row["budget_usd"] is not None and not max_cost.keeps_budgets:
        raise PriceUnknown(
            f"{owner} may cost {row['budget_usd']:,.4f} USD, and the price of {run.model[:MODEL_CHARS_SHOWN]} is not "
            f"known. Set it in CHIRON_PRICES where you continue the run from, which keeps it with the run.",
            remedies=(change_setting("CHIRON_PRICES"), CONTINUE),
        )


async def _require_daily_budget(
    connection: AsyncConnection[DictRow], args: dict[str, Any], daily_usd: Decimal
) -> None:
    Balance("A whole day", "usd", daily_usd, Decimal(), Decimal(), NO_DAY_REMEDY).require(args["usd"])
    await connection.execute(SQL["lock_day"])
    day = await fetch_one(connection, SQL["day"], args)
    today = Balance("Today", "usd", daily_usd, day["spent_usd"], day["reserved_usd"], TOMORROW_REMEDY)
    try:
        today.require(args["usd"])
    except BudgetSpent as error:
        raise BudgetSpent(str(error), retry_after_s=day["day_ends_in_s"]) from None


def _balances(owner: str, row: DictRow) -> Iterator[Balance]:
    for unit in ("usd", "tokens"):
        limit, spent, reserved = (row[f"{name}_{unit}"] for name in ("budget", "spent", "reserved"))
        yield Balance(owner, unit, limit, spent, reserved)


async def _write_fenced(pool: Pool, run: Run, max_cost: MaxCost, query: str) -> None:
    async with pool.connection() as connection:
        args = _args(run, max_cost)
        if await (await connection.execute(SQL[query], args)).fetchone():
            return
        if await (await connection.execute(SQL["is_held"], args)).fetchone() is None:
            raise LeaseLost(run.id)


def _args(run: Run, max_cost: MaxCost) -> dict[str, Any]:
    ours = lease_columns(run) | {"batch_id": run.batch_id, "shard": shard_of(run.id)}
    return reservation_columns(max_cost) | ours
