"""Costs in a time, by day, model, subject and key: one sum for the page, the API and programs."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.runs.usage import USAGE_SQL, RunUsage

SQL = load(__file__, USAGE_SQL)
GROUPS_MAX = 50
NO_KEY = "(none)"  # no key can be called so
USAGE_FIELDS = tuple(field.name for field in fields(RunUsage))


@dataclass(frozen=True, slots=True)
class CostFilter:
    """A filter of costs; None: all.

    Args:
        until: The end, exclusive.
        model: Also the name of a hosted service.
        key: The name of the key that submitted the batch, or `NO_KEY` for batches that needed none.
    """

    since: datetime
    until: datetime
    owner: str | None = None
    model: str | None = None
    subject_id: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Cost(RunUsage):
    """Sums over runs; hosted services outside of runs add to the cost, not to `runs`."""

    runs: int


@dataclass(frozen=True, slots=True)
class DayCost(Cost):
    """The cost of a day (UTC)."""

    day: date


@dataclass(frozen=True, slots=True)
class NamedCost(Cost):
    """The cost of a model, a subject or a key. `name` is None for services outside of runs, which have no subject."""

    name: str | None
    title: str | None  # of a subject


@dataclass(frozen=True, slots=True)
class CostGroups:
    """The dearest groups, the dearest first; `left_out` counts the others."""

    items: tuple[NamedCost, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs in a time. Each part adds up to the total, except for groups that are left out.

    `by_day` has each day, also without costs.
    """

    since: datetime
    until: datetime
    total: Cost
    by_day: tuple[DayCost, ...]
    by_model: CostGroups
    by_subject: CostGroups
    by_key: CostGroups


async def costs_of(pool: Pool, selection: CostFilter) -> Costs:
    """Read the costs. A run counts once, with its whole cost, when it ended or paused, and now while it is open."""
    rows = await fetch_all(
        pool, SQL["costs"], asdict(selection) | {"no_key": NO_KEY, "groups_max": GROUPS_MAX}
    )
    [total] = [row for row in rows if row["part"] == "total"]
    return Costs(
        since=selection.since,
        until=selection.until,
        total=Cost(**_usage(total)),
        by_day=tuple(_days(rows, selection)),
        by_model=_groups(rows, "model"),
        by_subject=_groups(rows, "subject"),
        by_key=_groups(rows, "key"),
    )


def _days(rows: Iterable[DictRow], selection: CostFilter) -> Iterable[DayCost]:
    costs = {row["day"]: _usage(row) for row in rows if row["part"] == "day"}
    day, last = (
        selection.since.astimezone(UTC).date(),
        (selection.until - timedelta.resolution).astimezone(UTC).date(),
    )
    while day <= last:  # ends: a period is bounded
        yield DayCost(**costs.get(day, ZERO), day=day)
        day += timedelta(days=1)


def _groups(rows: Iterable[DictRow], part: str) -> CostGroups:
    group_rows = [row for row in rows if row["part"] == part]
    items = tuple(NamedCost(**_usage(row), name=row["name"], title=row["title"]) for row in group_rows)
    return CostGroups(items, group_rows[0]["groups"] - len(items) if group_rows else 0)


def _usage(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*USAGE_FIELDS, "runs")}


ZERO: Mapping[str, Any] = {
    name: Decimal() if name.endswith(("_usd", "_usd_min")) else 0 for name in (*USAGE_FIELDS, "runs")
}
