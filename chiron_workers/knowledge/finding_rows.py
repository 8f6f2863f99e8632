"""The rows that the findings of a report are made of, as tuples: a dict of a row takes as long to make as the row to read."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple, cast

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.parameters import array
from chiron_workers.db.pipelines import Statement, send
from chiron_workers.db.queries import load
from chiron_workers.knowledge.report_rows import QUERIES, in_pages

SQL = load(__file__, *QUERIES)


class FactRow(NamedTuple):
    """A fact; the columns of `facts_of_findings` in their order. `contradictions` is None for most."""

    id: str
    subject_id: str
    content: str
    topic_path: str
    status: str
    confidence: float
    contradictions: list[str] | None
    validated_at: datetime
    valid_from: str | None
    valid_until: str | None
    superseded_by: str | None


class AssertionRow(NamedTuple):
    """What is asserted in favour of a fact; the columns of `assertions_of_findings` in their order."""

    id: str
    fact_id: str
    content: str
    quote: str | None
    quote_state: str
    quote_start: int | None
    quote_end: int | None
    source_url: str
    source_score: float
    snapshot_hash: str | None
    created_at: datetime
    context: str
    verdict: str
    verdict_reason: str
    verdict_by: str
    observed_at: datetime | None
    ground: str
    claimed_score: float | None
    source_kind: str


@dataclass(frozen=True, slots=True)
class FindingRows:
    """Some facts, what is asserted in their favour, and how they stand to others, as the database has them."""

    facts: list[FactRow]
    assertions: list[AssertionRow]
    links: list[DictRow]


def pages(pool: Pool, fact_ids: Sequence[str], *, ahead: int = 0) -> AsyncGenerator[FindingRows]:
    """The rows of facts as `report_rows.pages` gives them, but as tuples, with what a finding shows alone."""
    return in_pages(partial(_page, pool), fact_ids, ahead=ahead)


async def _page(pool: Pool, fact_ids: Sequence[str]) -> FindingRows:
    args = {"fact_ids": array(fact_ids)}
    statements = (
        Statement(SQL["facts_of_findings"], args, make_row=FactRow._make),
        Statement(SQL["assertions_of_findings"], args, make_row=AssertionRow._make),
        Statement(SQL["links"], args),
    )
    async with pool.connection() as connection:
        facts, assertions, links = await send(connection, statements)
    facts_by_id = {row.id: row for row in cast("list[FactRow]", facts)}
    return FindingRows(
        [facts_by_id[fact_id] for fact_id in fact_ids if fact_id in facts_by_id],
        [row if row.source_kind else _with_kind(row) for row in cast("list[AssertionRow]", assertions)],
        links,
    )


def _with_kind(row: AssertionRow) -> AssertionRow:
    # Needed only where an earlier version stored the assertion without a kind.
    from chiron_workers.knowledge.facts.source_kinds import bind

    return row._replace(**bind(row.source_url, row.source_score))
