"""Approximate indexes over the vectors of large subjects, and over all: where an exact search would take too long.

Each is built beside the work, when there are enough vectors for it and again when they have doubled, and its recall is
measured before a search uses it.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from math import isqrt
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row

from chiron_workers.db.connect import OPTIONS, require_url
from chiron_workers.db.connections import SteadyConnection
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import failed_items, isolated
from chiron_workers.embeddings import Space
from chiron_workers.ids import new_id
from chiron_workers.knowledge.search.vectors import halfvec_text, space_key
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, Duty

SQL = load(__file__)
USABLE = SQL["usable"]  # the index over a subject's vectors, or over all; a row or none

FACTS_MIN = 20_000  # up to here an exact search is as quick
RECALL_MIN = 0.99
NOISE_SHARE = 0.5  # how far a question lies from a fact, as a share of its length: a cosine of 0.9
RECALL_AT = 10
QUERIES = 50
LISTS_MAX = 1_000  # more would need more than 300 MB of memory to build
SPEEDUP_MIN = 4  # an index of which more than a fourth must be read is no quicker than the exact scan
DISTANCE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """An approximate index, and what was measured of it; without a subject it is over all."""

    subject_id: str | None
    facts: int  # with a vector, when it was built
    lists: int
    probes: int
    recall: float  # share of the 10 nearest that it found

    @property
    def is_worth_it(self) -> bool:
        """Whether a search through it is quicker than the exact one; if not, it is dropped and the row says why."""
        return self.probes * SPEEDUP_MIN <= self.lists

    @property
    def settings(self) -> dict[str, list[str]]:
        """The names and values of the Postgres settings for a search through it."""
        settings = {
            "ivfflat.probes": str(self.probes),
            "ivfflat.iterative_scan": "relaxed_order",  # goes on while filters leave too few
            "ivfflat.max_probes": str(self.lists),
        }
        return {"names": list(settings), "values": list(settings.values())}


async def find_index(session: Session, space: Space, subject_id: str | None) -> VectorIndex | None:
    """The index over a subject's vectors, or over all where no subject is named; None where there is none."""
    row = await session.row(USABLE, space_key(space) | {"subject_id": subject_id})
    return VectorIndex(**row) if row else None


async def maintain_indexes(
    database_url: str, space: Space, *, facts_min: int = FACTS_MIN, recall_min: float = RECALL_MIN
) -> list[VectorIndex]:
    """Build indexes that are missing or outgrown, and drop those that are left over; the indexes built.

    One process at a time does this, on a connection of its own; for the others, and where there is nothing to do, it
    is a look into the catalogue. An index that turns out not to be worth it is dropped again, until there are twice
    as many vectors. Postgres' own estimates, from the last analysis, say how many vectors there are.
    One that cannot be built is left for a while, and keeps no other waiting.
    Stopped midway, it leaves an index that the next look drops.
    """
    async with _locked_connection(database_url) as connection:
        if connection is None:
            return []
        builder = _IndexBuilder(connection, space)
        for row in await builder.rows("left_over", space_key(space)):
            await builder.run("drop", index=sql.Identifier(row["name"]))
        due = await builder.rows(
            "due", space_key(space) | {"facts_min": facts_min, "worth_probing": SPEEDUP_MIN}
        )
        failures = await failed_items(connection, Duty.VECTOR_INDEXES)
        built = []
        for row in due:
            item = f"{row['table_name']} {row['subject_id'] or ''}".strip()
            if failures.get(item):
                continue
            async with isolated(
                lambda: nullcontext(connection), Duty.VECTOR_INDEXES, item, has_failed=item in failures
            ):
                built.append(await builder.build(row["table_name"], row["subject_id"], recall_min))
        return built


@asynccontextmanager
async def _locked_connection(database_url: str) -> AsyncIterator[AsyncConnection[DictRow] | None]:
    # The lock is the session's, since what builds beside the work cannot be in a transaction.
    async with await SteadyConnection.connect(
        require_url(database_url), autocommit=True, row_factory=dict_row, options=OPTIONS, connect_timeout=10
    ) as connection:
        row = await (await connection.execute(SQL["lock"])).fetchone()
        yield connection if row and row["held"] else None


class _IndexBuilder:
    def __init__(self, connection: AsyncConnection[DictRow], space: Space) -> None:
        self.connection = connection
        self.space = space

    async def rows(self, name: str, args: dict[str, Any], **parts: sql.Composable) -> list[DictRow]:
        statement = SQL[name].format(**parts)
        return await (await self.connection.execute(statement, args, prepare=False)).fetchall()

    async def run(self, name: str, **parts: sql.Composable) -> None:
        await self.connection.execute(SQL[name].format(**parts))

    async def build(self, table_name: str, subject_id: str | None, recall_min: float) -> VectorIndex:
        name = f"{table_name}_near_{new_id().hex[-12:]}"
        table = sql.Identifier(table_name)
        if subject_id is None:
            scope, where_clause = sql.Composed([sql.SQL("true")]), sql.Composed([])
        else:
            scope = SQL["of_subject"].format(subject_id=sql.Literal(subject_id))
            where_clause = SQL["only"].format(scope=scope)
        [row] = await self.rows("count", {}, table=table, scope=scope)
        lists = max(1, min(LISTS_MAX, 3 * isqrt(row["facts"])))
        await self.run("raise_memory")
        await self.run(
            "create", index=sql.Identifier(name), table=table, lists=sql.Literal(lists), only=where_clause
        )
        index = await self._measure_recall(
            VectorIndex(subject_id, row["facts"], lists, 1, 0), table, scope, recall_min
        )
        args = space_key(self.space) | {"name": name} | asdict(index)
        replaced_names = [row["name"] for row in await self.rows("record", args)]
        for index_name in replaced_names if index.is_worth_it else [*replaced_names, name]:
            await self.run("drop", index=sql.Identifier(index_name))
        return index

    async def _measure_recall(
        self, index: VectorIndex, table: sql.Identifier, scope: sql.Composable, recall_min: float
    ) -> VectorIndex:
        sample_args = {"statuses": list(SHOWN_STATUSES), "limit": RECALL_AT}
        rows = await self.rows("sample", sample_args | {"limit": QUERIES}, table=table, scope=scope)
        if len(rows) < QUERIES:  # too few to measure with; it is made again when there are more
            return replace(index, probes=index.lists, recall=1.0)
        queries = [
            row | {"vector": vector} for row, vector in zip(rows, _perturbed_vectors(rows), strict=True)
        ]
        exact = [
            (await self.rows("farthest_exactly", sample_args | query, table=table, scope=scope))[0][
                "distance"
            ]
            for query in queries
        ]
        while True:  # ends: with all lists probed nothing is missed
            hits = 0
            for query, distance in zip(queries, exact, strict=True):
                args = sample_args | query | {"distance": distance + DISTANCE_TOLERANCE}
                async with self.connection.transaction():
                    await self.rows("plan_with", index.settings)
                    [row] = await self.rows("hits", args, table=table, scope=scope)
                hits += row["hits"]
            index = replace(index, recall=hits / (len(queries) * RECALL_AT))
            if index.recall >= recall_min or index.probes >= index.lists:
                return index
            index = replace(index, probes=min(index.probes * 2, index.lists))


def _perturbed_vectors(rows: list[DictRow]) -> list[str]:
    """Vectors at some distance from those of facts, as questions are; the same ones on every call."""
    import numpy as np

    vectors = np.array([json.loads(row["vector"]) for row in rows])
    noise = np.random.default_rng(1).standard_normal(vectors.shape)
    noise *= (
        NOISE_SHARE
        * np.linalg.norm(vectors, axis=1, keepdims=True)
        / np.linalg.norm(noise, axis=1, keepdims=True)
    )
    return [halfvec_text(vector.tolist()) for vector in vectors + noise]
