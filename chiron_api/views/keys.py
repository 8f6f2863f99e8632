from decimal import Decimal
from typing import Any

from chiron_workers.access.key_budgets import committed_usd
from chiron_workers.access.keys import Key, all_keys
from chiron_workers.db.connect import Pool


async def key_items(pool: Pool, *, with_revoked: bool = False) -> list[dict[str, Any]]:
    """The keys, oldest first, each with what it has left of its budget."""
    keys = await all_keys(pool, with_revoked=with_revoked)
    return [key_item(key, left_usd=await _left_usd(pool, key)) for key in keys]


def key_item(key: Key, *, left_usd: Decimal | None) -> dict[str, Any]:
    """A key as it is listed, without its secret."""
    return {name: getattr(key, name) for name in Key.__slots__} | {"left_usd": left_usd}


async def _left_usd(pool: Pool, key: Key) -> Decimal | None:
    if key.budget_usd is None or key.budget_period is None:
        return None
    return max(Decimal(0), key.budget_usd - await committed_usd(pool, key.id, key.budget_period))
