from dataclasses import dataclass

from psycopg.rows import DictRow

from chiron_api.acts.inputs import Input
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries

SQL = load_queries(__file__)
SUBJECTS_PER_PAGE = 100


class Options(Input):
    """The query string of the list of subjects."""

    after: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of subjects, by id; `after` leads to the next one, if there is one."""

    subjects: list[DictRow]
    after: str | None


async def load(pool: Pool, *, after: str | None) -> Listing:
    """A page of subjects."""
    rows = await fetch_all(pool, SQL["subjects"], {"after": after, "limit": SUBJECTS_PER_PAGE + 1})
    entries = rows[:SUBJECTS_PER_PAGE]
    return Listing(entries, entries[-1]["id"] if len(rows) > len(entries) else None)
