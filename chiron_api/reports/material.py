from collections.abc import Sequence
from dataclasses import dataclass, field

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows as reports
from chiron_workers.knowledge.facts.confidences import Confidences
from chiron_workers.knowledge.facts.links import Link
from chiron_workers.runs.session import Session
from chiron_workers.sources.changes import SourceChanges
from chiron_workers.states import Decider, FactStatus, Relation


@dataclass(slots=True)
class Material:
    """Facts as they were read, by id: `listed` are those of the report, `aside` those that are only linked to them.

    `origins` counts who independently says so. `source_marks`, by the ids of assertions, say of a source that it is gone
    or no longer holds the quote.
    """

    listed: dict[str, DictRow] = field(default_factory=dict)
    aside: dict[str, DictRow] = field(default_factory=dict)
    assertions: dict[str, list[DictRow]] = field(default_factory=dict)
    source_marks: dict[str, str] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)


async def read(pool: Pool, fact_ids: Sequence[str]) -> Material:
    """The facts of a report and what is linked to them; withdrawn facts stay out."""
    material, session = Material(), Session(pool)
    async for page in reports.pages(pool, fact_ids):
        await _keep(material, page, material.listed, session)
        material.links |= {(row["fact_id"], row["other_id"]): _link(row) for row in page.links}
    ends = {end for pair in material.links for end in pair}
    async for page in reports.pages(pool, sorted(ends - material.listed.keys())):
        await _keep(material, page, material.aside, session)
    known = material.listed.keys() | material.aside.keys()
    material.links = {pair: link for pair, link in material.links.items() if known.issuperset(pair)}
    return material


async def _keep(material: Material, page: reports.Rows, place: dict[str, DictRow], session: Session) -> None:
    kept = {row["id"]: row for row in page.facts if row["status"] != FactStatus.WITHDRAWN}
    place |= kept
    changes = await SourceChanges(session).of(row["source_url"] for row in page.assertions)
    for row in page.assertions:
        if row["fact_id"] in kept:
            material.assertions.setdefault(row["fact_id"], []).append(row)
            if (change := changes.get(row["source_url"])) and (mark := change.mark(row["id"])):
                material.source_marks[row["id"]] = mark
    for fact_id, found in (await Confidences(session).of(list(kept))).items():
        material.origins[fact_id] = len(found.support)


def _link(row: DictRow) -> Link:
    return Link(
        row["fact_id"], row["other_id"], Relation(row["relation"]), row["reason"], Decider(row["decided_by"])
    )
