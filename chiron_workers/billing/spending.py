"""Money today: one sum for the day's budget, estimates, metrics and the health line."""

from decimal import Decimal
from pathlib import Path

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load

SPENDING_SQL = Path(__file__).with_suffix(".sql")
SQL = load(__file__)


async def left_today(pool: Pool, daily_usd: Decimal) -> Decimal | None:
    """The rest of the daily budget: daily_usd - spent - reserved, in USD, at least 0; None where no budget binds it (0)."""
    if not daily_usd:
        return None
    async with pool.connection() as connection:
        day = await fetch_one(connection, SQL["day"], {})
    balance: Decimal = daily_usd - day["spent_usd"] - day["reserved_usd"]
    return max(balance, Decimal())
