"""The words of facts and passages as Postgres indexes them, and those that an earlier version indexed in English."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.language.terms import terms_of_query, terms_of_text
from chiron_workers.runs.session import Session

SQL = load(__file__)
QUERIES = Path(__file__).with_suffix(".sql")  # parts of them stand in those of other modules
K1, B = 1.2, 0.75  # of BM25, as Robertson and Zaragoza recommend, 2009
BATCH = 200


class TextArgs(TypedDict):
    """Query arguments of a text: its language if it tells, its words, its pairs of characters as a tsvector."""

    language: str | None
    words: str
    pairs: str


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
    return TextArgs(language=terms.language, words=terms.words, pairs=tsvector(terms.pairs))


def query_args(query: str) -> QueryArgs:
    """What a query asks for."""
    terms = terms_of_query(query)
    return QueryArgs(query_language=terms.language, words=terms.words, pairs=list(terms.pairs), k1=K1, b=B)


def tsvector(pairs: Iterable[str]) -> str:
    """Pairs of characters in their order, as Postgres reads them: letters and marks need no escape."""
    return " ".join(f"'{pair}':{place}" for place, pair in enumerate(pairs, 1))


async def index_words(pool: Pool) -> int:
    """Index the facts and passages anew that a version before this indexed, in English only; how many they were.

    Each batch of 200 commits by itself: stopped at any moment, the next call goes on from there. Several processes may do
    so at once, each with rows of its own.
    """
    count = 0
    for index_batch in (_index_facts, _index_passages):
        while batch := await index_batch(pool):
            count += batch
    return count


async def _index_facts(pool: Pool) -> int:
    async with Session(pool) as session:
        rows = await session.write(SQL["facts"], {"limit": BATCH})
        columns = await asyncio.to_thread(text_columns, [row["content"] for row in rows])
        if rows:
            await session.write(SQL["index_facts"], columns | {"ids": [row["id"] for row in rows]})
        return len(rows)


async def _index_passages(pool: Pool) -> int:
    async with Session(pool) as session:
        rows = await session.write(SQL["passages"], {"limit": BATCH})
        columns = await asyncio.to_thread(passage_columns, rows)
        if rows:
            places = {
                "documents": [row["document_id"] for row in rows],
                "numbers": [row["n"] for row in rows],
            }
            await session.write(SQL["index_passages"], columns | places)
        return len(rows)


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
