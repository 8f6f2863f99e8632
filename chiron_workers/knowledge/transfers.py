"""Facts on their way out of one database and into another, many at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import zstandard
from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, FactStatus, QuoteState, Relation

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Text:
    """A text to keep; `hash` is the sha256 of its UTF-8 bytes, in hex."""

    hash: str
    text: str
    content_type: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """That an address gave a text."""

    url: str
    hash: str
    title: str
    author: str
    licence: str
    published_at: datetime | None
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with its own assertion, ready to be written; `contradictions` is JSON."""

    id: str
    subject_id: str
    content: str
    quote: str | None
    quote_state: QuoteState
    quote_start: int | None
    quote_end: int | None
    source_url: str
    source_score: float
    claimed_confidence: float | None
    snapshot_hash: str | None
    topic_path: str
    confidence: float
    status: FactStatus
    contradictions: str
    validated_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AssertionRow:
    """A further assertion of a fact, ready to be written; `spare_id` is for an id that is taken."""

    id: str
    spare_id: str
    fact_id: str
    content: str
    quote: str | None
    quote_state: QuoteState
    quote_start: int | None
    quote_end: int | None
    source_url: str
    source_score: float
    claimed_confidence: float
    snapshot_hash: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What a fact was before a change, ready to be written."""

    id: str
    spare_id: str
    fact_id: str
    confidence: float
    status: FactStatus
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LinkRow:
    """How a fact stands to another, ready to be written."""

    fact_id: str
    other_id: str
    relation: Relation
    decided_by: Decider
    reason: str
    created_at: datetime


class Transfers:
    """What exports read and imports write."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def with_linked(self, fact_ids: Sequence[str]) -> list[str]:
        """Facts and those that they are linked to, by id."""
        return [row["id"] for row in await self.session.rows(SQL["everything"], {"fact_ids": list(fact_ids)})]

    async def by_subject(self, fact_ids: Sequence[str]) -> list[list[str]]:
        """Facts and those that they are linked to, those of each subject together."""
        return [
            row["ids"] for row in await self.session.rows(SQL["by_subject"], {"fact_ids": list(fact_ids)})
        ]

    async def changes(self, fact_ids: Sequence[str]) -> list[DictRow]:
        """What facts were before each change: id, fact_id, confidence, status, reason, at."""
        return await self.session.rows(SQL["changes"], {"fact_ids": list(fact_ids)})

    async def text(self, hash: str) -> str:
        """A text that was kept."""
        row = await self.session.row(SQL["body"], {"hash": hash})
        assert row is not None
        return zstandard.decompress(row["body"]).decode()

    async def keep_texts(self, texts: Sequence[Text]) -> int:
        """Keep texts; how many are new. Their hashes must be right."""
        args = {
            "hashes": [one.hash for one in texts],
            "bodies": [zstandard.compress(one.text.encode()) for one in texts],
            "chars": [len(one.text) for one in texts],
            "content_types": [one.content_type for one in texts],
        }
        return len(await self.session.write(SQL["keep_texts"], args))

    async def keep_fetches(self, found: Sequence[Fetch]) -> int:
        """Record which address gave which text, where the text is kept; how many are new."""
        args = {
            "ids": [ids.new_id() for _ in found],
            "urls": [one.url for one in found],
            "hashes": [one.hash for one in found],
            "titles": [one.title for one in found],
            "authors": [one.author for one in found],
            "published": [one.published_at for one in found],
            "licences": [one.licence for one in found],
            "fetched": [one.fetched_at for one in found],
        }
        return len(await self.session.write(SQL["keep_fetches"], args))

    async def ensure_subjects(self, found: Mapping[str, tuple[str, str | None, str]]) -> None:
        """Make subjects where there are none yet, each id with (title, purpose, depth)."""
        titles, purposes, depths = zip(*found.values(), strict=True) if found else ((), (), ())
        args = {
            "ids": list(found),
            "titles": list(titles),
            "purposes": list(purposes),
            "depths": list(depths),
        }
        await self.session.write(SQL["ensure_subjects"], args)

    async def known(self, facts: Sequence[tuple[str, str, str, str]]) -> list[tuple[str | None, bool]]:
        """For each (id, subject, content, address) the id of the fact that says so already, and whether the id is taken."""
        columns = [list(column) for column in zip(*facts, strict=True)] or [[], [], [], []]
        args = dict(zip(("ids", "subject_ids", "contents", "urls"), columns, strict=True))
        return [(row["twin_id"], row["is_taken"]) for row in await self.session.rows(SQL["known"], args)]

    async def fetched(self, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of these (address, hash of a text) are on record."""
        args = {"urls": [url for url, _ in places], "hashes": [found for _, found in places]}
        return {(row["url"], row["hash"]) for row in await self.session.rows(SQL["fetched"], args)}

    async def kept(self, hashes: Sequence[str]) -> set[str]:
        """Which of these texts are kept."""
        return {row["hash"] for row in await self.session.rows(SQL["kept"], {"hashes": list(hashes)})}

    async def add_facts(self, rows: Sequence[FactRow]) -> set[str]:
        """Write facts; the ids of those that are new."""
        return {row["id"] for row in await self.session.write(SQL["add_facts"], _columns(FactRow, rows))}

    async def add_assertions(self, rows: Sequence[AssertionRow]) -> int:
        """Write further assertions; how many are new."""
        return len(await self.session.write(SQL["add_assertions"], _columns(AssertionRow, rows)))

    async def add_changes(self, rows: Sequence[ChangeRow]) -> None:
        """Write the history of facts that are new."""
        await self.session.write(SQL["add_changes"], _columns(ChangeRow, rows))

    async def add_links(self, rows: Sequence[LinkRow]) -> int:
        """Link facts; how many links are new."""
        return len(await self.session.write(SQL["add_links"], _columns(LinkRow, rows)))


def _columns(kind: type[Any], rows: Sequence[Any]) -> dict[str, list[Any]]:
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)}
