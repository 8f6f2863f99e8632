"""What a search costs in one subject, by its size and by how common the words of the query are.

`uv run python benchmarks/word_searches.py [--facts 1000 10000 20000 100000] [--repeats 40]`: words alone and hybrid, beside the
100 best facts with any word by `ts_rank` in bare SQL. Embedding is left out.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Sequence

import numpy as np
import psycopg
from cpu import load_average
from fact_rows import copy_facts, without_indexes
from figures import Figures, begin, table
from psycopg import sql
from searches import DEPTH, FOUND
from searches import SQL as BARE
from services import Services, services
from synthetic_facts import SPACE, VOCABULARY, Questions, World, subject

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode
from chiron_workers.store import Store

BLOCK = 10_000  # facts that are copied in one transaction
# Words of a query, and between which ranks of the vocabulary they lie; the most common word stands in one fact of five.
KINDS = {
    "one common word": (1, 0, 5),
    "8 common words": (8, 0, 50),
    "8 words, as common as in facts": (8, 0, VOCABULARY),
    "3 rare words": (3, 2_000, VOCABULARY),
    "1 rare and 7 common words": (8, 0, 50),
    "100 words, as common as in facts": (100, 0, VOCABULARY),
}
RARE = 2_000  # rank of the most common of the rare words
TIMINGS = ("bare", "text", "hybrid")


def queries(world: World, kind: str, count: int) -> list[str]:
    """Queries of a kind; words are drawn as often as facts have them."""
    words, low, high = KINDS[kind]
    texts = [" ".join(world.words_between(low, high, words)) for _ in range(count)]
    if kind.startswith("1 rare"):
        return [f"{world.words_between(RARE, VOCABULARY, 1)[0]} {text.partition(' ')[2]}" for text in texts]
    return texts


async def fill(
    found: Services, pool: Pool, world: World, embedder: Questions, numbers: Sequence[int]
) -> None:
    """Copy the facts of each subject, index their words in their language, and build approximate indexes."""
    vector_table = await Store(Session(pool), embedder).search.vectors.ensure()
    await asyncio.to_thread(_copy, found.settings.database_url, vector_table, world, numbers)
    start = time.perf_counter()
    count = await index_words(pool)
    print(
        f"{count:,} facts indexed anew in {time.perf_counter() - start:.1f} s, load {load_average()}",
        flush=True,
    )
    await asyncio.to_thread(_analyse, found.settings.database_url)
    await maintain_indexes(found.settings.database_url, SPACE)


def _copy(url: str, vector_table: sql.Identifier, world: World, sizes: Sequence[int]) -> None:
    with (
        psycopg.connect(url, autocommit=True) as connection,
        without_indexes(connection, ["facts", vector_table.as_string().strip('"')]),
    ):
        for number, size in enumerate(sizes):
            for start in range(0, size, BLOCK):
                subjects = np.full(min(BLOCK, size - start), number)
                copy_facts(connection, vector_table, *world.facts(subjects))


def _analyse(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


async def measure_kind(store: Store, subject_id: str, texts: Sequence[str]) -> dict[str, float]:
    """Percentiles in ms of each query, by turns with bare SQL; the first one warms and is not counted."""
    filters = Filters(subject_id)
    vector_table = await store.search.vectors.ensure()
    bare = BARE["worded"].format(table=vector_table, scope=BARE["in_a_subject"])
    took_ms: dict[str, list[float]] = {name: [] for name in TIMINGS}
    for text in texts:
        args = {"subject_id": subject_id, "query": text, "depth": DEPTH}
        for name, search in {
            "bare": store.session.rows(bare, args),
            "text": store.search.find(text, filters=filters, limit=FOUND, mode=SearchMode.TEXT),
            "hybrid": store.search.find(text, filters=filters, limit=FOUND, mode=SearchMode.HYBRID),
        }.items():
            took_ms[name].append(await _ms(search))
    return {
        f"{name}_p{percentile}": float(np.percentile(values[1:], percentile))
        for name, values in took_ms.items()
        for percentile in (50, 99)
    }


async def _ms(search: Awaitable[object]) -> float:
    start = time.perf_counter()
    await search
    return (time.perf_counter() - start) * 1_000


async def measure(found: Services, *, sizes: Sequence[int], repeats: int, seed: int) -> Figures:
    world, embedder, figures = World(seed), Questions(), Figures()
    async with open_pool(found.settings.database_url, size=2) as pool:
        await fill(found, pool, world, embedder, sizes)
        store = Store(Session(pool), embedder)
        for number, size in enumerate(sizes):
            for kind in KINDS:
                texts = queries(world, kind, repeats + 1)
                embedder.vectors |= dict(
                    zip(texts, world.vectors(len(texts)).astype(np.float32).tolist(), strict=True)
                )
                row = await measure_kind(store, subject(number), texts)
                figures.setdefault(kind, []).append({"facts": size} | row)
                print(f"{size:,}, {kind}: {row}", flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000, 20_000, 100_000])
    parser.add_argument("--repeats", type=int, default=40, help="Queries of each kind.")
    parser.add_argument("--seed", type=int, default=286)
    with begin(parser) as (asked, report), services() as found:
        report.figures = asyncio.run(
            measure(found, sizes=asked.facts, repeats=asked.repeats, seed=asked.seed)
        )
        rows = [
            [
                f"{row['facts']:,}",
                kind,
                *(f"{row[f'{name}_p50']:.0f} / {row[f'{name}_p99']:.0f}" for name in TIMINGS),
            ]
            for kind, kind_rows in report.figures.items()
            for row in kind_rows
        ]
        columns = ["facts", "query", "bare SQL, ms p50 / p99", "words alone", "hybrid"]
        table(f"Searches for {FOUND}, load {load_average()}", columns, rows)


if __name__ == "__main__":
    main()
