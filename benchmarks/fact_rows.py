"""Facts and their vectors, copied into the tables that the store fills: as fast as Postgres takes them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from chiron_workers.db.queries import load

SQL = load(__file__)
TYPES = ["uuid", "text", "text", "text", "float4", "text", "float4", "text", "timestamptz"]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)

Vectors = NDArray[np.float16]  # a row for each fact


@dataclass(frozen=True, slots=True)
class FactRow:
    """An accepted fact of a source of its own, stored long ago."""

    id: UUID
    subject_id: str
    content: str
    topic_path: str = "all"
    confidence: float = 0.9


def copy_facts(
    connection: psycopg.Connection, table: sql.Identifier, rows: Sequence[FactRow], vectors: Vectors
) -> None:
    """Store facts with their vectors, and the subjects that are new, in one transaction."""
    register_vector(connection)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(SQL["subjects"], {"ids": sorted({row.subject_id for row in rows})})
        with cursor.copy(SQL["copy_facts"]) as copy:
            copy.set_types(TYPES)
            for row in rows:
                copy.write_row(_fact(row))
        with cursor.copy(SQL["copy_vectors"].format(table=table)) as copy:
            copy.set_types(["uuid", "text", "text", "float4", "halfvec"])
            for row, vector in zip(rows, vectors, strict=True):
                copy.write_row((row.id, row.subject_id, "accepted", row.confidence, HalfVector(vector)))


def _fact(row: FactRow) -> tuple[object, ...]:
    url = f"https://example.org/{row.id}"
    source = (url, 0.9, row.topic_path, row.confidence)
    # What was stored within the last minute is held against each new fact once more.
    return (row.id, row.subject_id, row.content, *source, "accepted", LONG_AGO)


@contextmanager
def without_indexes(connection: psycopg.Connection, tables: Iterable[str]) -> Iterator[None]:
    """Take the indexes of tables away while much is copied, and make them again from their own definitions.

    Approximate ones stay away: what keeps them up builds them anew, as large as the table is by then.
    """
    found = connection.execute(SQL["indexes"], {"tables": list(tables)}).fetchall()
    for name, _ in found:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    yield
    for _, definition in found:
        if "USING ivfflat" not in definition:
            connection.execute(sql.SQL(definition))
    for table in tables:
        connection.execute(sql.SQL("vacuum analyze {}").format(sql.Identifier(table)))
