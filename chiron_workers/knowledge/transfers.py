"""Facts on their way out of one database and into another, many at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import zstandard
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.knowledge.search.word_index import WORDS_VERSION, text_columns
from chiron_workers.runs.session import Session

SQL = load(__file__)
Kind = Literal["texts", "fetches", "subjects", "facts", "assertions", "changes", "links", "successors"]


async def by_subject(session: Session, fact_ids: Sequence[str]) -> list[list[str]]:
    """Facts and those that they are linked to, those of each subject together."""
    rows = await session.rows(SQL["by_subject"], {"fact_ids": list(fact_ids)})
    return [row["ids"] for row in rows]


async def changes(session: Session, fact_ids: Sequence[str]) -> list[DictRow]:
    """What facts were before each change: id, fact_id, confidence, status, reason, at."""
    return await session.rows(SQL["changes"], {"fact_ids": list(fact_ids)})


async def text(session: Session, hash: str) -> str:
    """A text that was kept."""
    [row] = await session.rows(SQL["body"], {"hash": hash})
    return zstandard.decompress(row["body"]).decode()


async def add(session: Session, kind: Kind, rows: Sequence[Mapping[str, Any]]) -> list[DictRow]:
    """Write what is not there yet; a row for each that is new, with its id.

    Args:
        rows: Each with the columns that the statement `add_...` of this kind takes; others are left out.
    """
    if not rows:
        return []
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    if kind == "facts":
        columns |= text_columns(columns["content"]) | {"words_version": WORDS_VERSION}
    return await session.write(SQL[f"add_{kind}"], columns)


async def find_twins(
    session: Session, facts: Sequence[tuple[str, str, str, str]]
) -> list[tuple[str | None, bool]]:
    """For each (id, subject, content, address) the id of the fact that says so already, and whether the id is taken."""
    columns = [list(column) for column in zip(*facts, strict=True)] or [[], [], [], []]
    args = dict(zip(("ids", "subject_ids", "contents", "urls"), columns, strict=True))
    return [(row["twin_id"], row["is_taken"]) for row in await session.rows(SQL["find_twins"], args)]


async def find_fetches(session: Session, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Which of these (address, hash of a text) are on record."""
    args = {"urls": [url for url, _ in places], "hashes": [digest for _, digest in places]}
    return {(row["url"], row["hash"]) for row in await session.rows(SQL["find_fetches"], args)}


async def find_texts(session: Session, hashes: Sequence[str]) -> set[str]:
    """Which of these texts are kept."""
    return {row["hash"] for row in await session.rows(SQL["find_texts"], {"hashes": list(hashes)})}
