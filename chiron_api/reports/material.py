from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from psycopg.rows import DictRow

from chiron_api.reports.report import Selection
from chiron_api.reports.selections import select
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import finding_rows
from chiron_workers.knowledge.facts.links import Link
from chiron_workers.knowledge.finding_rows import AssertionRow, FactRow, FindingRows
from chiron_workers.runs.session import Session
from chiron_workers.sources.changes import SourceChanges, source_mark
from chiron_workers.states import Decider, FactStatus, Ground, Relation, Verdict

PAGES_AHEAD = 1  # Postgres reads on while what it gave is made use of
# As texts: a text is compared with a text in a third of the time that it takes with an enumeration.
STANDS_TEXT, WITHDRAWN_TEXT = str(Ground.STANDS), str(FactStatus.WITHDRAWN)
SILENT_VERDICTS = frozenset({Verdict.CONTRADICTED, Verdict.SILENT})  # they say nothing for their fact


@dataclass(slots=True)
class Material:
    """Facts as they were read, by id: `findings` are those of the report, `aside` those that are only linked to them.

    `origins` counts who independently says so. `source_marks`, by the ids of assertions, say of a source that it is gone
    or no longer holds the quote; `selections`, by the same ids, where a verified quote stands.
    """

    findings: dict[str, FactRow] = field(default_factory=dict)
    aside: dict[str, FactRow] = field(default_factory=dict)
    assertions: dict[str, list[AssertionRow]] = field(default_factory=dict)
    source_marks: dict[str, str] = field(default_factory=dict)
    selections: dict[str, Selection] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)


async def read(pool: Pool, fact_ids: Sequence[str], *, with_selections: bool = False) -> Material:
    """The facts of a report and what is linked to them; withdrawn facts stay out, and what was superseded contradicts
    nothing.
    """
    material, session = Material(), Session(pool)
    async with aclosing(finding_rows.pages(pool, fact_ids, ahead=PAGES_AHEAD)) as pages:
        async for page in pages:
            await _add_page(material, page, material.findings, session)
            if with_selections:
                material.selections |= await select(session, page.assertions)
            material.links |= {(row["fact_id"], row["other_id"]): _link(row) for row in page.links}
    ends = {end for pair in material.links for end in pair}
    async with aclosing(
        finding_rows.pages(pool, sorted(ends - material.findings.keys()), ahead=PAGES_AHEAD)
    ) as pages:
        async for page in pages:
            await _add_page(material, page, material.aside, session)
            if with_selections:
                material.selections |= await select(session, page.assertions)
    rows = material.findings | material.aside
    material.links = {
        pair: link
        for pair, link in material.links.items()
        if rows.keys() >= set(pair) and not _is_settled(link, rows)
    }
    ends = {end for pair in material.links for end in pair}
    material.aside = {fact_id: row for fact_id, row in material.aside.items() if fact_id in ends}
    return material


def _is_settled(link: Link, rows: Mapping[str, FactRow]) -> bool:
    statuses = {rows[link.fact_id].status, rows[link.other_id].status}
    return link.relation is Relation.CONTRADICTS and FactStatus.SUPERSEDED in statuses


async def _add_page(
    material: Material, page: FindingRows, rows_by_id: dict[str, FactRow], session: Session
) -> None:
    rows = {row.id: row for row in page.facts if row.status != WITHDRAWN_TEXT}
    rows_by_id |= rows
    changes = await SourceChanges(session).of({row.source_url for row in page.assertions})
    for row in page.assertions:
        if row.fact_id not in rows:
            continue
        material.assertions.setdefault(row.fact_id, []).append(row)
        change = changes.get(row.source_url)
        if (change or row.ground != STANDS_TEXT) and (mark := source_mark(row.id, row.ground, change)):
            material.source_marks[row.id] = mark
    material.origins |= await _origins(page, list(rows), session)


async def _origins(page: FindingRows, fact_ids: Sequence[str], session: Session) -> dict[str, int]:
    """How many independent origins each fact has; texts are compared only where several sources say so."""
    counts = Counter([row.fact_id for row in page.assertions if row.verdict not in SILENT_VERDICTS])
    supported_ids = {row["other_id"] for row in page.links if row["relation"] == Relation.SUPPORTS}
    several = [fact_id for fact_id in fact_ids if counts[fact_id] > 1 or fact_id in supported_ids]
    origins = {fact_id: counts[fact_id] for fact_id in fact_ids}
    if several:
        from chiron_workers.knowledge.facts.confidences import Confidences  # with what compares texts

        origins |= await Confidences(session).origin_counts(several)
    return origins


def _link(row: DictRow) -> Link:
    return Link(
        row["fact_id"], row["other_id"], Relation(row["relation"]), row["reason"], Decider(row["decided_by"])
    )
