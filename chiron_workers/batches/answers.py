"""What runs came to, for whoever takes the results further: all runs of a batch, however many."""

import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound
from chiron_workers.problems import SEE_BATCHES
from chiron_workers.runs.columns import Column, columns_of
from chiron_workers.runs.usage import USAGE_SQL, RunUsage
from chiron_workers.states import RunState

SQL = load(__file__, USAGE_SQL)
PAGE_ROWS = 250  # answers can be long
BEYOND_ASCII = re.compile("[^\0-\x7f]+")


@dataclass(frozen=True, slots=True)
class Result(RunUsage):
    """A run as far as it has come: `answer` is None until it has completed once, `error` is {kind, message} or None.

    Remedies of an error are in the run's summary.
    """

    id: UUID
    batch_id: UUID
    number: int
    topic: str
    context: str | None
    role: str
    subject_id: str
    state: RunState
    answer: str | None
    silent: bool
    error: dict[str, str] | None
    facts: int
    confirmed: int
    cited: int
    nothing_found: bool
    finished_at: datetime | None


async def results(pool: Pool, target: UUID) -> AsyncGenerator[list[Result]]:
    """The results of a run, or of all runs of a batch in the order of its topics, in pages of at most PAGE_ROWS.

    No transaction stays open between two pages, so a slow reader holds up nobody.

    Raises:
        NotFound: There is no such batch or run.
    """
    page = await _page(pool, target, None)
    if not page:
        raise _nothing(target)
    while page:
        yield page
        page = await _page(pool, target, page[-1].id) if len(page) == PAGE_ROWS else []


async def result_lines(pool: Pool, target: UUID) -> AsyncGenerator[str]:
    """The results as `results` has them, each a line of JSON in ASCII, many lines at once. Raises as `results`."""
    page = await _line_page(pool, target, None)
    if not page["rows"]:
        raise _nothing(target)
    while page["rows"]:
        # No terminal takes a part of it for a command.
        yield BEYOND_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], page["lines"])
        if page["rows"] < PAGE_ROWS:
            return
        page = await _line_page(pool, target, page["last_id"])


async def columns_asked_for(pool: Pool, target: UUID) -> tuple[Column, ...]:
    """The columns of a batch, or of the batch of a run; none where it was asked for no rows. Raises NotFound."""
    [row] = await fetch_all(pool, SQL["columns_asked_for"], {"id": target})
    if not row["is_there"]:
        raise _nothing(target)
    return columns_of(row["columns"])


def _nothing(target: UUID) -> NotFound:
    return NotFound(f"No batch and no run has the id {target}.", remedies=(SEE_BATCHES,))


async def _line_page(pool: Pool, target: UUID, after: UUID | None) -> DictRow:
    [page] = await fetch_all(pool, SQL["line_page"], {"id": target, "after": after, "limit": PAGE_ROWS})
    return page


async def _page(pool: Pool, target: UUID, after: UUID | None) -> list[Result]:
    args = {"id": target, "after": after, "limit": PAGE_ROWS}
    rows = await fetch_all(pool, SQL["page"], args)
    for row in rows:
        row["state"] = RunState(row["state"])
    return [Result(**row) for row in rows]
