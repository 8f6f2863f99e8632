"""Facts on their way out of one database and into another, many at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import zstandard
from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session

SQL = load(__file__)

Row = Mapping[str, Any]  # the columns of a row to write, by name


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


class Transfers:
    """What exports read and imports write."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def with_linked(self, fact_ids: Sequence[str]) -> list[str]:
        """Facts and those that they are linked to, by id."""
        return [
            row["id"] for row in await self.session.rows(SQL["with_linked"], {"fact_ids": list(fact_ids)})
        ]

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
        [row] = await self.session.rows(SQL["body"], {"hash": hash})
        return zstandard.decompress(row["body"]).decode()

    async def add_texts(self, texts: Sequence[Text]) -> int:
        """Keep texts; how many are new. Their hashes must be right."""
        args = {
            "hashes": [text.hash for text in texts],
            "bodies": [zstandard.compress(text.text.encode()) for text in texts],
            "chars": [len(text.text) for text in texts],
            "content_types": [text.content_type for text in texts],
        }
        return len(await self.session.write(SQL["add_texts"], args))

    async def add_fetches(self, fetches: Sequence[Fetch]) -> int:
        """Record which address gave which text, where the text is kept; how many are new."""
        args = {
            "ids": [ids.new_id() for _ in fetches],
            "urls": [fetch.url for fetch in fetches],
            "hashes": [fetch.hash for fetch in fetches],
            "titles": [fetch.title for fetch in fetches],
            "authors": [fetch.author for fetch in fetches],
            "published": [fetch.published_at for fetch in fetches],
            "licences": [fetch.licence for fetch in fetches],
            "fetched": [fetch.fetched_at for fetch in fetches],
        }
        return len(await self.session.write(SQL["add_fetches"], args))

    async def ensure_subjects(self, subjects: Mapping[str, tuple[str, str | None, str]]) -> None:
        """Make subjects where there are none yet, each id with (title, purpose, depth)."""
        titles, purposes, depths = zip(*subjects.values(), strict=True) if subjects else ((), (), ())
        args = {
            "ids": list(subjects),
            "titles": list(titles),
            "purposes": list(purposes),
            "depths": list(depths),
        }
        await self.session.write(SQL["ensure_subjects"], args)

    async def find_twins(self, facts: Sequence[tuple[str, str, str, str]]) -> list[tuple[str | None, bool]]:
        """For each (id, subject, content, address) the id of the fact that says so already, and whether the id is taken."""
        columns = [list(column) for column in zip(*facts, strict=True)] or [[], [], [], []]
        args = dict(zip(("ids", "subject_ids", "contents", "urls"), columns, strict=True))
        return [(row["twin_id"], row["is_taken"]) for row in await self.session.rows(SQL["find_twins"], args)]

    async def find_fetches(self, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of these (address, hash of a text) are on record."""
        args = {"urls": [url for url, _ in places], "hashes": [digest for _, digest in places]}
        return {(row["url"], row["hash"]) for row in await self.session.rows(SQL["find_fetches"], args)}

    async def find_texts(self, hashes: Sequence[str]) -> set[str]:
        """Which of these texts are kept."""
        return {row["hash"] for row in await self.session.rows(SQL["find_texts"], {"hashes": list(hashes)})}

    async def add_facts(self, rows: Sequence[Row]) -> set[str]:
        """Write facts, each with its own assertion, and `contradictions` as JSON; the ids of those that are new."""
        if not rows:
            return set()
        return {row["id"] for row in await self.session.write(SQL["add_facts"], _columns(rows))}

    async def add_assertions(self, rows: Sequence[Row]) -> int:
        """Write further assertions; how many are new. A `spare_id` is for an id that is taken."""
        if not rows:
            return 0
        return len(await self.session.write(SQL["add_assertions"], _columns(rows)))

    async def add_changes(self, rows: Sequence[Row]) -> None:
        """Write the history of facts that are new. A `spare_id` is for an id that is taken."""
        if rows:
            await self.session.write(SQL["add_changes"], _columns(rows))

    async def add_links(self, rows: Sequence[Row]) -> int:
        """Link facts; how many links are new."""
        return len(await self.session.write(SQL["add_links"], _columns(rows)))


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}
