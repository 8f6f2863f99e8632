from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import zstandard
from psycopg.types.json import Json

from chiron_api.text import count
from chiron_api.transfer.checking import check
from chiron_api.transfer.fact_batch import REASON, FactBatch
from chiron_api.transfer.reading import read
from chiron_api.transfer.records import AnyRecord, FactRecord, SourceRecord, SubjectRecord
from chiron_workers import ids
from chiron_workers.db.connect import Pool
from chiron_workers.documents.omissions import Omission, as_rows
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ChironError
from chiron_workers.knowledge import transfers
from chiron_workers.knowledge.report_rows import address
from chiron_workers.runs.session import Session
from chiron_workers.store import Store

FACTS_AT_ONCE = 200
TEXTS_AT_ONCE = 20

Kind = TypeVar("Kind", bound=AnyRecord)
Item = TypeVar("Item")


@dataclass(slots=True)
class Imported:
    """What an import has written so far. `unproven` counts verified quotes whose text is not here to check them."""

    facts: int = 0
    known: int = 0
    assertions: int = 0
    links: int = 0
    texts: int = 0
    unproven: int = 0

    def __str__(self) -> str:
        return (
            f"{count(self.facts, 'new fact')}, {count(self.known, 'known one')}, "
            f"{count(self.assertions, 'new further source')}, {count(self.links, 'new link')}, {count(self.texts, 'new text')}"
        )


async def import_file(
    pool: Pool, embedder: Embedder, path: Path, *, subject: tuple[str, str] | None = None
) -> Imported:
    """Read a file of exported knowledge; what is there already is not doubled, and nothing of it is changed.

    The whole file is checked before anything is written. It is written in batches, so that a large one holds up
    nobody; the confidence of its facts is computed here, whatever the file says.

    Args:
        subject: Id and title of the subject that all facts go to; None: to those that the file names.

    Raises:
        UsageError: A line is wrong; nothing was written.
        ChironError: It stopped in the middle: the message says what was written. The same import again goes on.
    """
    subjects = check(read(path))
    counts = Imported()
    steps = _ImportSteps(pool, embedder, path, subject, counts)
    try:
        await steps.subjects(subjects)
        await steps.texts()
        await steps.fetches()
        await steps.facts()
        await steps.links()
        await steps.recompute_confidences()
        await steps.successors()
    except (ChironError, psycopg.Error, OSError) as error:
        raise ChironError(
            f"The import stopped: {' '.join(str(error).split()).rstrip('.')}. Written so far: {counts}. "
            "Import the same file again to go on; nothing is doubled."
        ) from error
    return counts


def subjects_of(path: Path, subject: tuple[str, str] | None) -> list[str]:
    """The ids of the subjects that the facts of a file go to; `subject` as for `import_file`."""
    if subject is not None:
        return [subject[0]]
    return sorted(record.subject_id for record in check(read(path)))


@dataclass(slots=True)
class _ImportSteps:
    """The steps of an import, each through the whole file, so that the order of its lines does not matter."""

    pool: Pool
    embedder: Embedder
    path: Path
    subject: tuple[str, str] | None
    counts: Imported
    # Ids of the file, and of the facts that they are here.
    places: dict[str, str] = field(default_factory=dict)

    async def subjects(self, subjects: list[SubjectRecord]) -> None:
        rows = [subject.model_dump() for subject in subjects]
        if self.subject is not None:
            subject_id, title = self.subject
            rows = [SubjectRecord.model_construct(subject_id=subject_id, title=title).model_dump()]
        async with Session(self.pool) as session:
            await transfers.add(session, "subjects", rows)

    async def texts(self) -> None:
        texts = (source for source in self._records(SourceRecord) if source.text is not None)
        for batch in _batches(texts, TEXTS_AT_ONCE):
            rows = {source.hash: _text_row(source) for source in batch}
            async with Session(self.pool) as session:
                self.counts.texts += len(await transfers.add(session, "texts", list(rows.values())))

    async def fetches(self) -> None:
        fetches = (source for source in self._records(SourceRecord) if source.fetched_at is not None)
        for batch in _batches(fetches, FACTS_AT_ONCE):
            rows = [
                source.model_dump(exclude={"text", "content_type"})
                | {"url": address(source.url), "left_out": _left_out_rows(source)}
                for source in batch
            ]
            distinct_rows = {tuple(row.values()): row for row in rows}.values()
            async with Session(self.pool) as session:
                await transfers.add(session, "fetches", [_fetch_row(row) for row in distinct_rows])

    async def facts(self) -> None:
        for records in _batches(self._records(FactRecord), FACTS_AT_ONCE):
            facts = [self._in_subject(record) for record in records]
            async with Store(Session(self.pool), self.embedder) as store:
                batch = await FactBatch.prepare(store, facts)
                new, assertions = await batch.write(store)
            self.places |= batch.places
            self.counts.facts += new
            self.counts.known += len(records) - new
            self.counts.assertions += assertions
            self.counts.unproven += batch.unproven

    async def links(self) -> None:
        links = (
            link.model_dump()
            | {"fact_id": self.places[str(fact.id)], "other_id": self.places[str(link.other_id)]}
            for fact in self._records(FactRecord)
            for link in fact.links
        )
        for batch in _batches(links, FACTS_AT_ONCE):
            async with Session(self.pool) as session:
                self.counts.links += len(await transfers.add(session, "links", batch))

    async def recompute_confidences(self) -> None:
        """Compute the confidence of the file's facts, and of those here that they count for or against."""
        for batch in _batches(iter(self.places.values()), FACTS_AT_ONCE):
            for same_subject in await transfers.by_subject(Session(self.pool), batch):
                async with Store(Session(self.pool), self.embedder) as store:
                    await store.facts.recompute(same_subject, reason=REASON)

    async def successors(self) -> None:
        """Name the facts that took the place of superseded ones."""
        rows = (
            {"fact_id": self.places[str(fact.id)], "superseded_by": self.places[str(fact.superseded_by)]}
            for fact in self._records(FactRecord)
            if fact.superseded_by and str(fact.superseded_by) in self.places
        )
        for batch in _batches(rows, FACTS_AT_ONCE):
            async with Session(self.pool) as session:
                await transfers.add(session, "successors", batch)

    def _records(self, kind: type[Kind]) -> Iterator[Kind]:
        return (record for _, record in read(self.path) if isinstance(record, kind))

    def _in_subject(self, fact: FactRecord) -> FactRecord:
        return fact if self.subject is None else fact.model_copy(update={"subject_id": self.subject[0]})


def _fetch_row(fields: dict[str, Any]) -> dict[str, Any]:
    names = fields["authors"]
    return fields | {"id": ids.new_id(), "authors": None if names is None else Json(list(names))}


def _left_out_rows(source: SourceRecord) -> str | None:
    parts = source.left_out
    return as_rows(
        None if parts is None else tuple(Omission(part.kind, part.count, part.place) for part in parts)
    )


def _text_row(source: SourceRecord) -> dict[str, Any]:
    text = source.text or ""
    return {
        "hash": source.hash,
        "body": zstandard.compress(text.encode()),
        "chars": len(text),
        "content_type": source.content_type or "text/plain",
    }


def _batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch
