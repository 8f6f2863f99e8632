from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import DictRow

from chiron_workers.batches.summaries import BatchSummary, summaries_of
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries
from chiron_workers.ids import first_id

SQL = load_queries(__file__)
BATCHES_MAX = 20
BATCHES_LOOKED_AT = 200
FACTS_MAX = 12


@dataclass(frozen=True, slots=True)
class Home:
    """What the home page shows: batches that wait for somebody, that run, that have ended, and new facts."""

    attention: list[BatchSummary]
    active: list[BatchSummary]
    recent: list[BatchSummary]
    facts: list[DictRow]
    since: datetime
    has_batches: bool


async def load(pool: Pool, *, since: datetime, owner: str | None = None) -> Home:
    """What there is now, and what is new since a time; with `owner` of the batches of one owner."""
    args = {
        "owner": owner,
        "limit": BATCHES_MAX,
        "looked_at": BATCHES_LOOKED_AT,
        "since": since,
        "first_id": first_id(since),
    }

    async def batches(query: str) -> list[BatchSummary]:
        return await summaries_of(pool, [row["id"] for row in await fetch_all(pool, SQL[query], args)])

    open_batches = await batches("open_ids")
    return Home(
        attention=await batches("stopped_ids"),
        active=[batch for batch in open_batches if batch.runs["queued"] or batch.runs["running"]],
        recent=await batches("finished_ids"),
        facts=await fetch_all(pool, SQL["new_facts"], args | {"limit": FACTS_MAX}),
        since=since,
        has_batches=(await fetch_all(pool, SQL["has_batches"], args))[0]["is_so"],
    )
