from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.http.page.answers import ANSWER_CHARS
from chiron_api.http.page.home.answers import LatestAnswer, latest_answer
from chiron_api.http.page.home.money import Money, money_today
from chiron_api.services import Services
from chiron_workers.batches.summaries import BatchSummary, summaries_of
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries
from chiron_workers.ids import first_id
from chiron_workers.runs.usage import USAGE_SQL

SQL = load_queries(__file__, USAGE_SQL)
BATCHES_MAX = 20
BATCHES_LOOKED_AT = 200
FACTS_MAX = 12
ANSWERS_MAX = 8
SUBJECTS_MAX = 8
FIRST_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Home:
    """The content of the home page: batches that need a person, run or have ended, answers, new facts, money today.

    Who has no batch sees the subjects that all share, with their newest facts, in place of all that.
    """

    attention: list[BatchSummary]
    active: list[BatchSummary]
    recent: list[BatchSummary]
    answers: list[LatestAnswer]
    facts: list[DictRow]
    money: Money
    since: datetime


@dataclass(frozen=True, slots=True)
class Welcome:
    """What who has no batch sees: the subjects that all share, those with the newest facts first, and newest facts."""

    subjects: list[DictRow]
    facts: list[DictRow]


async def load_welcome(pool: Pool) -> Welcome:
    """The subjects that there are."""
    subjects = await fetch_all(pool, SQL["shared_subjects"], {"limit": SUBJECTS_MAX})
    args = {"first_id": FIRST_ID, "limit": FACTS_MAX // 2}
    return Welcome(subjects, await fetch_all(pool, SQL["new_facts"], args) if subjects else [])


async def has_batches(services: Services) -> bool:
    """Whether there is any batch that the principal sees."""
    args = {"owner": services.principal.visible_owner}
    [row] = await fetch_all(services.pool, SQL["has_batches"], args)
    return bool(row["is_so"])


async def load(services: Services, *, since: datetime) -> Home:
    """Read the current state, and the news since a time."""
    pool, owner = services.pool, services.principal.visible_owner
    args = {
        "owner": owner,
        "limit": BATCHES_MAX,
        "looked_at": BATCHES_LOOKED_AT,
        "since": since,
        "first_id": first_id(since),
    }
    answers = await fetch_all(pool, SQL["answers"], args | {"limit": ANSWERS_MAX, "chars": ANSWER_CHARS})

    async def batches(query: str) -> list[BatchSummary]:
        return await summaries_of(pool, [row["id"] for row in await fetch_all(pool, SQL[query], args)])

    open_batches = await batches("open_ids")
    return Home(
        attention=await batches("stopped_ids"),
        active=[batch for batch in open_batches if batch.runs["queued"] or batch.runs["running"]],
        recent=await batches("finished_ids"),
        answers=[latest_answer(row, since=since) for row in answers],
        facts=await fetch_all(pool, SQL["new_facts"], args | {"limit": FACTS_MAX}),
        money=await money_today(services),
        since=since,
    )
