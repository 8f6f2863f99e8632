"""Deliveries as the page lists them: those of every webhook that somebody sees, the newest first."""

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.acts.inputs import Input
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries

SQL = load_queries(__file__)
DELIVERIES_PER_PAGE = 50


class Options(Input):
    """The query string of the list of deliveries."""

    before: UUID | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of deliveries, newest first; `before` leads to the next one, if there is one."""

    deliveries: list[DictRow]
    before: UUID | None


async def load(pool: Pool, *, before: UUID | None, owner: str | None) -> Listing:
    """A page of deliveries; with `owner` those of one owner's webhooks."""
    args = {"before": before, "owner": owner, "limit": DELIVERIES_PER_PAGE + 1}
    rows = await fetch_all(pool, SQL["newest"], args)
    deliveries = rows[:DELIVERIES_PER_PAGE]
    return Listing(deliveries, deliveries[-1]["id"] if len(rows) > len(deliveries) else None)
