"""Searches timed: the project's own beside bare SQL, by turns, with the same questions on the same pool."""

import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

import numpy as np

from chiron_workers.db.queries import load
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.vectors import halfvec_text
from chiron_workers.states import SearchMode
from chiron_workers.store import Store

SQL = load(__file__)
FOUND = 10
T = TypeVar("T")
DEPTH = 100  # of a ranking by words, before it is fused


@dataclass(slots=True)
class Searched:
    """Milliseconds of each search; of the 10 exactly nearest, the share that each search by vectors found."""

    bare_vector: list[float] = field(default_factory=list)
    bare_words: list[float] = field(default_factory=list)
    vector: list[float] = field(default_factory=list)
    hybrid: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    recall_stated: list[float] = field(default_factory=list)

    @property
    def bare_hybrid(self) -> list[float]:
        """Both bare searches, one after the other; what fuses their rankings is not counted."""
        return [one + other for one, other in zip(self.bare_vector, self.bare_words, strict=True)]

    def summary(self) -> dict[str, float]:
        """Percentiles in ms, their ratios and mean recall."""
        ours = {"vector": self.vector, "hybrid": self.hybrid}
        bare = {"vector": self.bare_vector, "hybrid": self.bare_hybrid}
        found = {"recall": fmean(self.recall), "recall_stated": min(self.recall_stated, default=1.0)}
        for mode, took in ours.items():
            for name, percentile in (("p50", 50), ("p99", 99)):
                mine, bare_ms = (float(np.percentile(ms, percentile)) for ms in (took, bare[mode]))
                found |= {
                    f"bare_{mode}_{name}": bare_ms,
                    f"{mode}_{name}": mine,
                    f"{mode}_{name}_ratio": mine / bare_ms,
                }
        return found


async def search(store: Store, subject_id: str | None, questions: Sequence[str], into: Searched) -> None:
    """Ask each question four times: for the nearest vectors and for the words with bare SQL, and of both modes."""
    filters = Filters(subject_id)
    table = await store.search.vectors.ensure()

    async def bare(name: str, args: dict[str, object]) -> list[str]:
        scope = SQL["in_all" if subject_id is None else "in_a_subject"]
        statement = SQL[name].format(table=table, scope=scope)
        return [row["id"] for row in await store.session.rows(statement, args)]

    async def ours(question: str, mode: SearchMode) -> list[tuple[str, float]]:
        facts = await store.search.find(question, filters=filters, limit=FOUND, mode=mode)
        return [(fact["id"], fact["recall"]) for fact in facts]

    for question in questions:
        [vector] = await store.embedder.embed([question], query=True)
        args: dict[str, object] = {
            "subject_id": subject_id,
            "query": question,
            "vector": halfvec_text(vector),
            "limit": FOUND,
            "depth": DEPTH,
        }
        nearest = await _timed(bare("nearest", args), into.bare_vector)
        found = await _timed(ours(question, SearchMode.VECTOR), into.vector)
        await _timed(bare("worded", args), into.bare_words)
        await _timed(ours(question, SearchMode.HYBRID), into.hybrid)
        into.recall.append(len({one for one, _ in found} & set(nearest)) / len(nearest))
        into.recall_stated += [stated for _, stated in found[:1]]


async def _timed(arguments: Awaitable[T], into: list[float]) -> T:
    start = time.perf_counter()
    found = await arguments
    into.append((time.perf_counter() - start) * 1_000)
    return found
