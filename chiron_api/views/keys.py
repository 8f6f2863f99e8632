from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from chiron_workers.access.allotments import committed_usd
from chiron_workers.access.keys import Key, all_keys
from chiron_workers.db.connect import Pool


async def key_items(pool: Pool, *, with_revoked: bool = False) -> list[dict[str, Any]]:
    """The keys, oldest first, each with what it has left of its budget."""
    keys = await all_keys(pool, with_revoked=with_revoked)
    bound_ids = [key.id for key in keys if key.budget_usd is not None]
    sums = await committed_usd(pool, bound_ids) if bound_ids else {}
    return [key_item(key, left_usd=_left_usd(key, sums)) for key in keys]


def key_item(key: Key, *, left_usd: Decimal | None) -> dict[str, Any]:
    """A key as it is listed, without its secret."""
    return {name: getattr(key, name) for name in Key.__slots__} | {"left_usd": left_usd}


def _left_usd(key: Key, sums: Mapping[UUID, Decimal]) -> Decimal | None:
    if key.budget_usd is None:
        return None
    return max(Decimal(0), key.budget_usd - sums.get(key.id, Decimal(0)))
