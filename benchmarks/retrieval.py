"""How well questions find the texts that answer them: `uv run python benchmarks/retrieval.py --set NAME=PATH ...`.

The project's own search beside BM25 and the full text search of Postgres, on the same texts in the same run. NAME is
wikipedia (a folder with two wheels), perl or debian (the root of a file system with Debian's packages), xquad (a file), beir or
smart (a folder).
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import psycopg
from cpu import load_average
from fact_rows import FactRow, copy_facts
from figures import Figures, begin, table
from question_sets import READERS, QuestionSet
from rankings import rankings
from relevance import DEPTH, ndcg, recall
from services import Services, services

from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.runs.session import Session
from chiron_workers.store import Store


async def measure(found: Services, asked: QuestionSet) -> Figures:
    """nDCG and recall, in percent, by ranking."""
    embedder = open_embedder(found.settings)
    try:
        async with (
            open_pool(found.settings.database_url, size=2) as pool,
            Store(Session(pool), embedder) as store,
        ):
            ids = await keep(found, store, asked)
            await index_words(pool)
            figures: Figures = {}
            by_id = {fact_id: asked.texts[text] for text, fact_id in ids.items()}
            each = await rankings(store, slug(asked.name), by_id, language=asked.language, limit=DEPTH)
            for name, rank in each.items():
                scores = [
                    (ndcg(ranked, grades), recall(ranked, grades))
                    for question, answers in asked.answers.items()
                    for grades in [{ids[text]: grade for text, grade in answers.items()}]
                    for ranked in [await rank(asked.questions[question])]
                ]
                means = [100 * fmean(column) for column in zip(*scores, strict=True)]
                figures[f"{asked.name}: {name}"] = [{"ndcg": means[0], "recall": means[1]}]
            return figures
    finally:
        await embedder.close()


async def keep(found: Services, store: Store, asked: QuestionSet) -> dict[str, str]:
    """Store each text as a fact, whole: ids of facts by ids of texts. Joined with what says the same, no set were left."""
    vectors = np.array(await store.embedder.embed(list(asked.texts.values())), dtype=np.float16)
    rows = [FactRow(new_id(), slug(asked.name), text.replace("\0", " ")) for text in asked.texts.values()]
    table_name = await store.search.vectors.ensure()
    with psycopg.connect(found.settings.database_url, autocommit=True) as connection:
        copy_facts(connection, table_name, rows, vectors)
        connection.execute("vacuum analyze")
    return {text: str(row.id) for text, row in zip(asked.texts, rows, strict=True)}


def shown(figures: Figures, sets: Sequence[QuestionSet]) -> list[list[str]]:
    """A row for each ranking: nDCG and recall in each set, and the mean of nDCG over the sets."""
    rankings_of = dict.fromkeys(name.partition(": ")[2] for name in figures)
    rows = []
    for ranking in rankings_of:
        each = [figures[f"{one.name}: {ranking}"][0] for one in sets]
        cells = [f"{one['ndcg']:.1f} / {one['recall']:.1f}" for one in each]
        rows.append([ranking, *cells, f"{fmean(one['ndcg'] for one in each):.1f}"])
    return rows


def chosen(text: str) -> QuestionSet:
    name, _, path = text.partition("=")
    if name not in READERS or not path:
        raise argparse.ArgumentTypeError(f"NAME=PATH with NAME one of {', '.join(READERS)} (got {text!r}).")
    return READERS[name](Path(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--set", dest="sets", action="append", type=chosen, required=True, metavar="NAME=PATH"
    )
    with begin(parser) as (asked, report), services() as found:
        for one in asked.sets:
            print(f"{one.name}: {len(one.texts):,} texts, {len(one.answers):,} questions", flush=True)
            report.figures |= asyncio.run(measure(found, one))
        columns = ["nDCG@10 / recall@10", *(one.name for one in asked.sets), "mean nDCG"]
        table(f"Retrieval, load {load_average()}", columns, shown(report.figures, asked.sets))


if __name__ == "__main__":
    main()
