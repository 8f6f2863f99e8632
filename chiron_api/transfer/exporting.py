from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.transfer import records
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows, transfers
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.report_rows import Rows, Target
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus, ReportKind

NEW_FIELDS = ("authors", "doi")
Record = dict[str, object]


async def exported(pool: Pool, target: UUID | str | None, *, with_snapshots: bool) -> AsyncIterator[Record]:
    """The records of a file, in the order in which they are written: each after those that it needs.

    Args:
        target: A run or batch by its id, a subject by its name, or None for everything that is known.
        with_snapshots: Also the texts of the sources, so that quotes can be checked elsewhere.

    Raises:
        NotFound: There is nothing of that id or name.
    """
    fact_ids = await _fact_ids(pool, target)
    yield {"kind": records.KIND, "version": records.VERSION, "exported_at": datetime.now(UTC)}
    exports = _Export(pool, frozenset(fact_ids), with_snapshots=with_snapshots)
    async for page in report_rows.pages(pool, fact_ids):
        async for record in exports.page(page):
            yield record


async def _fact_ids(pool: Pool, scope: UUID | str | None) -> list[str]:
    if scope is None:
        targets = [
            Target(ReportKind.SUBJECT, subject["subject_id"], subject["subject_id"], subject["title"])
            for subject in await Subjects(Session(pool)).all()
        ]
        return sorted([fact_id for target in targets for fact_id in await _of(pool, target)])
    target = await report_rows.find_target(pool, scope)
    fact_ids = await _of(pool, target)
    if target.kind is ReportKind.SUBJECT:
        return fact_ids
    return sorted(chain.from_iterable(await transfers.by_subject(Session(pool), fact_ids)))


async def _of(pool: Pool, target: Target) -> list[str]:
    return sorted(await report_rows.fact_ids(pool, target, statuses=list(FactStatus), limit=None))


class _Export:
    """Pages of facts as records; a subject and a source come once, before the first fact that needs them."""

    def __init__(self, pool: Pool, fact_ids: frozenset[str], *, with_snapshots: bool) -> None:
        self.pool = pool
        self.fact_ids = fact_ids
        self.with_snapshots = with_snapshots
        self.session = Session(pool)
        self.subjects = set[str]()
        self.places = set[tuple[str, str]]()
        self.texts = set[str]()

    async def page(self, page: Rows) -> AsyncIterator[Record]:
        for record in await self._new_subjects(page.facts):
            yield record
        async for record in self._new_sources(page.assertions):
            yield record
        assertions, links = _by_fact(page.assertions), _by_fact(page.links)
        changes = _by_fact(await transfers.changes(self.session, [row["id"] for row in page.facts]))
        for row in page.facts:
            yield {
                "kind": "fact",
                **_picked(row, records.FactRecord),
                "assertions": [
                    _picked(assertion, records.AssertionRecord) for assertion in assertions[row["id"]]
                ],
                "changes": [_picked(change, records.ChangeRecord) for change in changes[row["id"]]],
                "links": [
                    _picked(link, records.LinkRecord)
                    for link in links[row["id"]]
                    if link["other_id"] in self.fact_ids
                ],
            }

    async def _new_subjects(self, facts: Iterable[DictRow]) -> list[Record]:
        new = {row["subject_id"] for row in facts} - self.subjects
        self.subjects |= new
        rows = await report_rows.subject_rows(self.pool, sorted(new)) if new else []
        return [{"kind": "subject", **row} for row in rows]

    async def _new_sources(self, assertions: Iterable[DictRow]) -> AsyncIterator[Record]:
        new = [place for place in dict.fromkeys(_places(assertions)) if place not in self.places]
        self.places |= set(new)
        for (url, text_hash), row in zip(new, await report_rows.fetches(self.pool, new), strict=True):
            record: Record = {
                "kind": "source",
                "url": url,
                "hash": text_hash,
                **_picked(row, records.SourceRecord),
            }
            for name in NEW_FIELDS:  # left out where empty, so that a version without them reads the file
                if not record[name]:
                    del record[name]
            if self.with_snapshots and text_hash not in self.texts:
                self.texts.add(text_hash)
                record["text"] = await transfers.text(self.session, text_hash)
            yield record


def _places(assertions: Iterable[DictRow]) -> Iterator[tuple[str, str]]:
    for row in assertions:
        if row["snapshot_hash"] is not None:
            yield report_rows.address(row["source_url"]), row["snapshot_hash"]


def _by_fact(rows: Iterable[DictRow]) -> defaultdict[str, list[DictRow]]:
    rows_by_fact: defaultdict[str, list[DictRow]] = defaultdict(list)
    for row in rows:
        rows_by_fact[row["fact_id"]].append(row)
    return rows_by_fact


def _picked(row: DictRow, kind: type[records.Record]) -> Record:
    return {name: row[name] for name in kind.model_fields if name in row}
