"""What a million facts cost: `nice -n -12 uv run python benchmarks/knowledge.py [--facts 50000] [--json FILE]`.

Searches within subjects of very different sizes and across all of them, beside the bare SQL of the same search; how much of
the exactly nearest they find; what storing a fact costs while there are few and many; memory and disk.
"""

import argparse
import asyncio
import itertools
import time
from statistics import median
from typing import Any

import numpy as np
import psutil
import psycopg
from cpu import load_average
from fact_rows import copy_facts, without_indexes
from figures import Figures, begin, table
from numpy.typing import NDArray
from psycopg import sql
from searches import FOUND, Searched, search
from services import Services, services
from synthetic_facts import SPACE, Questions, World, sizes, subject

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.queries import load
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.runs.session import Session
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge

SQL = load(__file__)
BLOCK = 10_000  # facts that are copied in one transaction
BOUNDS = (0, 2_000, 10_000, 20_000, 100_000, 1_000_000)  # of a subject's facts, for the rows of the table
SUBJECTS_OF_A_CLASS = 5
LOADED = {"facts": "facts", "s": "s", "approximate": "approximate indexes", "approximate_s": "s"}


class Measuring:
    """One database while it fills."""

    def __init__(self, found: Services, pool: Pool, world: World) -> None:
        self.found = found
        self.pool = pool
        self.world = world
        self.embedder = Questions()
        self.figures: Figures = {}

    def keep(self, name: str, figures: dict[str, Any]) -> None:
        """Add figures under a name, and tell that there are more of them: a run takes many minutes."""
        self.figures.setdefault(name, []).append(figures)
        told = ", ".join(f"{key} {value:,.1f}" for key, value in figures.items())
        print(f"{name}: {told}", flush=True)

    def store(self) -> Store:
        return Store(Session(self.pool), self.embedder)

    async def fill(self, subjects: NDArray[np.int64]) -> None:
        """Copy a fact for each subject named, and let the approximate indexes keep up."""
        name = await self.store().search.vectors.ensure()
        start = time.perf_counter()
        await asyncio.to_thread(self._copy, name, subjects)
        copied = time.perf_counter()
        built = await maintain_indexes(self.found.settings.database_url, SPACE)
        took = {"s": copied - start, "approximate": len(built), "approximate_s": time.perf_counter() - copied}
        self.keep("load", {"facts": len(subjects)} | took)

    async def insert(self, there: int, known: list[int], repeats: int) -> None:
        """Store facts as an agent does, in the largest subject, in one in the middle and in the smallest."""
        for n in (0, len(known) // 10, len(known) - 1):
            took: list[float] = []
            for content in self.world.contents(self.embedder, repeats):
                start = time.perf_counter()
                async with self.store() as store:
                    await store_knowledge(
                        store,
                        content=content,
                        subject_id=subject(n),
                        source_url=f"https://example.org/{len(took)}",
                        source_score=0.9,
                        topic_path="all",
                        confidence=0.9,
                    )
                took.append((time.perf_counter() - start) * 1_000)
            self.keep("store a fact", {"facts": there, "of_subject": known[n]} | _percentiles(took))

    async def search(self, known: list[int], repeats: int) -> None:
        """Search in subjects of each class of size, and in all."""
        for low, high in itertools.pairwise(BOUNDS):
            of_class = [n for n, size in enumerate(known) if low < size <= high]
            chosen = of_class[:: max(1, len(of_class) // SUBJECTS_OF_A_CLASS)][:SUBJECTS_OF_A_CLASS]
            if chosen:
                searched = Searched()
                for n in chosen:
                    each = max(2, repeats // len(chosen))
                    await self._ask(subject(n), each, searched)
                facts = {"subjects": len(of_class), "facts": median(known[n] for n in chosen)}
                self.keep(f"subjects up to {high:,}", facts | searched.summary())
        await self._ask(None, repeats, searched := Searched())
        self.keep("all subjects", {"subjects": len(known), "facts": sum(known)} | searched.summary())

    async def occupied(self) -> None:
        """Megabytes on disk, by table and index, and in memory."""
        name = (await self.store().search.vectors.ensure()).as_string().strip('"')
        rows = await Session(self.pool).rows(SQL["disk"], {"tables": ["facts", name]})
        self.figures["disk"] = [{"name": row["name"], "mb": row["mb"]} for row in rows]
        postgres = [self.found.postgres, *self.found.postgres.children(recursive=True)]
        self.figures["memory"] = [
            {"name": "this process", "mb": psutil.Process().memory_info().rss / 1e6},
            {"name": "Postgres", "mb": sum(one.memory_full_info().pss for one in postgres) / 1e6},
        ]

    def _copy(self, name: sql.Identifier, subjects: NDArray[np.int64]) -> None:
        tables = ["facts", name.as_string().strip('"')]
        with (
            psycopg.connect(self.found.settings.database_url, autocommit=True) as connection,
            without_indexes(connection, tables),
        ):
            for start in range(0, len(subjects), BLOCK):
                copy_facts(connection, name, *self.world.facts(subjects[start : start + BLOCK]))

    async def _ask(self, subject_id: str | None, count: int, into: Searched) -> None:
        store = self.store()
        # The first question of a subject reads what no page of memory holds yet: it warms, and is not counted.
        await search(store, subject_id, self.world.questions(self.embedder, 1), Searched())
        await search(store, subject_id, self.world.questions(self.embedder, count), into)


def _percentiles(took_ms: list[float]) -> dict[str, float]:
    return {"p50": median(took_ms), "p99": float(np.percentile(took_ms, 99))}


async def measure(found: Services, *, facts: int, subjects: int, repeats: int, seed: int) -> Figures:
    world, known = World(seed), sizes(facts, subjects)
    order = world.random.permutation(np.repeat(np.arange(subjects), known))
    async with open_pool(found.settings.database_url, size=2) as pool:
        measuring = Measuring(found, pool, world)
        there = 0
        for upto in (len(order) // 100, len(order) // 10, len(order)):
            await measuring.fill(order[there:upto])
            there = upto
            await measuring.insert(there, [max(1, size * there // len(order)) for size in known], repeats)
        await measuring.search(known, repeats)
        await measuring.occupied()
        return measuring.figures


def show(figures: Figures) -> None:
    searches = {name: found for name, (found, *_) in figures.items() if "recall" in found}
    for mode in ("vector", "hybrid"):
        rows = [[f"{name} ({one['subjects']})", *_cells(one, mode)] for name, one in searches.items()]
        columns = [
            "ms",
            "facts of each",
            "bare p50",
            "p99",
            "p50",
            "p99",
            "ratio",
            "p99",
            "recall of vectors",
        ]
        table(f"Searches for {FOUND}, {mode}, load {load_average()}", columns, rows)
    rows = [[f"{one[key]:,.0f}" for key in LOADED] for one in figures["load"]]
    table("Copying, and building the approximate indexes", list(LOADED.values()), rows)
    rows = [
        [f"{one['facts']:,}", f"{one['of_subject']:,}", f"{one['p50']:.1f}", f"{one['p99']:.1f}"]
        for one in figures["store a fact"]
    ]
    table("Storing a fact", ["facts", "of the subject", "ms p50", "p99"], rows)
    rows = [[one["name"], f"{one['mb']:,.0f}"] for one in figures["disk"] + figures["memory"]]
    table("Disk and memory", ["", "MB"], rows)


def _cells(found: dict[str, float], mode: str) -> list[str]:
    times = [found[f"{who}{mode}_{name}"] for who in ("bare_", "") for name in ("p50", "p99")]
    ratios = [found[f"{mode}_{name}_ratio"] for name in ("p50", "p99")]
    return [
        f"{found['facts']:,.0f}",
        *(f"{ms:.1f}" for ms in times),
        *(f"{ratio:.2f}" for ratio in ratios),
        f"{found['recall']:.3f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--subjects", type=int, default=200)
    parser.add_argument(
        "--repeats", type=int, default=50, help="Questions a class of size, and facts that are stored."
    )
    parser.add_argument("--seed", type=int, default=286)
    with begin(parser) as (arguments, report), services() as found:
        sizes_asked = {"facts": arguments.facts, "subjects": arguments.subjects}
        report.figures = asyncio.run(
            measure(found, **sizes_asked, repeats=arguments.repeats, seed=arguments.seed)
        )
        show(report.figures)


if __name__ == "__main__":
    main()
