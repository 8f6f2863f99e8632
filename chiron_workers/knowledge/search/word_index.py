"""The words of facts and passages as Postgres indexes them, and those that an earlier version indexed in another form."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import clear, is_fault_of_process, isolated
from chiron_workers.language.terms import terms_of_query, terms_of_text
from chiron_workers.runs.session import Session
from chiron_workers.states import Duty

SQL = load(__file__)
QUERIES = Path(__file__).with_suffix(".sql")  # parts of them stand in those of other modules
K1, B = 1.2, 0.75  # of BM25, as Robertson and Zaragoza recommend, 2009
BATCH = 200
WORDS_VERSION = (
    2  # of the form in which words are stored; 2 since letters of Arabic and digits of any script are folded
)


class TextArgs(TypedDict):
    """Query arguments of a text: its language if it tells, its words, its pairs of characters as a tsvector."""

    language: str | None
    words: str
    pairs: str
    words_version: int


class QueryArgs(TypedDict):
    """Query arguments of a query; each pair is a tsquery."""

    query_language: str | None
    words: str
    pairs: list[str]
    k1: float
    b: float


def text_args(text: str) -> TextArgs:
    """What is stored of a text for the search by words."""
    terms = terms_of_text(text)
    return TextArgs(
        language=terms.language,
        words=terms.words,
        pairs=tsvector(terms.pairs),
        words_version=WORDS_VERSION,
    )


def query_args(query: str) -> QueryArgs:
    """What a query asks for."""
    terms = terms_of_query(query)
    return QueryArgs(query_language=terms.language, words=terms.words, pairs=list(terms.pairs), k1=K1, b=B)


def tsvector(pairs: Iterable[str]) -> str:
    """Pairs of characters in their order, as Postgres reads them: letters and marks need no escape."""
    return " ".join(f"'{pair}':{place}" for place, pair in enumerate(pairs, 1))


async def index_words(pool: Pool) -> int:
    """Index the facts and passages anew that a version before this indexed in another form; how many they were.

    Each batch of 200 commits by itself: stopped at any moment, the next call goes on from there. Several processes may do
    so at once, each with rows of its own. A text that cannot be indexed is left for a while, and keeps no other waiting.
    """
    count = 0
    for index_batch, texts in (
        (_index_facts, "facts"),
        (_index_facts, "earlier_facts"),
        (_index_passages, "passages"),
        (_index_passages, "earlier_passages"),
    ):
        while (batch := await _index_next(pool, index_batch, texts)) is not None:
            count += batch
    return count


async def _index_next(pool: Pool, index: "_Index", texts: str) -> int | None:
    """Index a batch, or each of its texts by itself where one is refused; how many are indexed, None where none is left."""
    rows: list[DictRow] = []
    try:
        async with Session(pool) as session:
            rows = await session.write(SQL[texts], {"limit": BATCH})
            await index(session, rows)
        failed_items = [_item(row) for row in rows if row["has_failed"]]
        if failed_items:
            await clear(pool.connection, Duty.WORDS, failed_items)
        return len(rows) or None
    except Exception as error:  # of one text among many
        if not rows or is_away(error) or is_fault_of_process(error):
            raise
    count = 0
    for row in rows:
        async with isolated(pool.connection, Duty.WORDS, _item(row), has_failed=row["has_failed"]):
            async with Session(pool) as session:
                await index(session, [row])
            count += 1
    return count


def _item(row: DictRow) -> str:
    return str(row["id"]) if "id" in row else f"{row['document_id']} {row['n']}"


_Index = Callable[[Session, Sequence[DictRow]], Awaitable[None]]


async def _index_facts(session: Session, rows: Sequence[DictRow]) -> None:
    columns = await asyncio.to_thread(text_columns, [row["content"] for row in rows])
    if rows:
        ids = {"ids": [row["id"] for row in rows], "words_version": WORDS_VERSION}
        await session.write(SQL["index_facts"], columns | ids)


async def _index_passages(session: Session, rows: Sequence[DictRow]) -> None:
    columns = await asyncio.to_thread(passage_columns, rows)
    if rows:
        places = {
            "documents": [row["document_id"] for row in rows],
            "numbers": [row["n"] for row in rows],
            "words_version": WORDS_VERSION,
        }
        await session.write(SQL["index_passages"], columns | places)


def text_columns(texts: Sequence[str], prefix: str = "") -> dict[str, list[str | None]]:
    """Query arguments of many texts: `languages`, `words` and `pairs`, each with a prefix."""
    texts_args = [text_args(text) for text in texts]
    return {
        f"{prefix}languages": [args["language"] for args in texts_args],
        f"{prefix}words": [args["words"] for args in texts_args],
        f"{prefix}pairs": [args["pairs"] for args in texts_args],
    }


def passage_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    """Query arguments of passages, which have `title`, `heading` and `body`: those of each of the three."""
    return {
        name: column
        for field in ("title", "heading", "body")
        for name, column in text_columns([row[field] for row in rows], f"{field}_").items()
    }
