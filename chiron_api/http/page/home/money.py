"""Money today on the home page: administrators see the total and each key, others their own batches."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from chiron_api.acts.keys import KeysQuery, list_keys
from chiron_api.services import Services
from chiron_workers.access.allotments import committed_usd, key_budget
from chiron_workers.billing.costs import NO_KEY, CostFilter, Costs, costs_of

KEYS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class KeyMoney:
    """The cost today of runs that a key submitted, and the rest of its budget; None without one.

    `period` is `day` or `total`.
    """

    name: str
    spent_usd: Decimal
    budget_usd: Decimal | None
    period: str | None
    left_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Money:
    """Money today (UTC) in USD.

    Args:
        spent_usd: By all calls of the day; of who sees its own batches alone, by its runs that ended or paused today or are open.
        limit_usd: The daily budget, or the budget of the key; None: no limit.
        reserved_usd: The most that calls in flight may add; None: hidden from this reader.
        left_usd: Of the budget of the key.
        keys: Of all keys, for who may see them; those that spent most today first.
        more_keys: How many are left out.
    """

    spent_usd: Decimal | None
    limit_usd: Decimal | None = None
    reserved_usd: Decimal | None = None
    left_usd: Decimal | None = None
    keys: tuple[KeyMoney, ...] = ()
    more_keys: int = 0
    is_own: bool = False


async def money_today(services: Services) -> Money:
    """Money today for who looks."""
    now = datetime.now(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    owner = services.principal.visible_owner
    costs = await costs_of(services.pool, CostFilter(midnight, now, owner))
    if owner is not None:
        return await _own_money(services, costs)
    fleet = await services.fleet()
    keys = await _keys(services, costs)
    return Money(
        fleet.spent_today_usd,
        services.settings.daily_budget_usd or None,
        fleet.reserved_usd,
        keys=keys[:KEYS_SHOWN],
        more_keys=len(keys[KEYS_SHOWN:]),
    )


async def _own_money(services: Services, costs: Costs) -> Money:
    budget_usd, left_usd = None, None
    if key_id := services.principal.key_id:
        _, budget_usd = await key_budget(services.pool, key_id)
        if budget_usd is not None:
            sums = await committed_usd(services.pool, [key_id])
            left_usd = max(budget_usd - sums.get(key_id, Decimal()), Decimal())
    return Money(costs.total.spent_usd_min, budget_usd, left_usd=left_usd, is_own=True)


async def _keys(services: Services, costs: Costs) -> tuple[KeyMoney, ...]:
    """The keys that spent something today or have a budget; none where there are no keys."""
    keys = {key.name: key for key in (await list_keys(services, KeysQuery())).items}
    spent = {cost.name or NO_KEY: cost.spent_usd_min for cost in costs.by_key.items}
    if not keys:
        return ()
    names = [
        *spent,
        *(name for name, key in keys.items() if key.budget_usd is not None and name not in spent),
    ]
    rows = []
    for name in names:
        key = keys.get(name)
        budget = (key.budget_usd, key.budget_period, key.left_usd) if key else (None, None, None)
        rows.append(KeyMoney(name, spent.get(name, Decimal()), *budget))
    return tuple(rows)
