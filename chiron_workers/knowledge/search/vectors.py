from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper
from psycopg import adapters
from psycopg.sql import Composed, Identifier, Literal

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.embeddings import Space
from chiron_workers.runs.session import Session

SQL = load(__file__)
# Its type has another number in each database, so that it goes without one: a query says `::halfvec`.
adapters.register_dumper(HalfVector, HalfVectorBinaryDumper)

# The tables this process has seen, by database: a space's table is created once and never renamed.
_table_names: WeakKeyDictionary[Pool, dict[Space, str]] = WeakKeyDictionary()


class Vectors:
    """The vectors of one embedding space, in a table of its own: spaces are never mixed."""

    def __init__(self, session: Session, space: Space) -> None:
        self.session = session
        self.space = space

    @property
    def space_name(self) -> str:
        """What tells the space from all others."""
        return f"{self.space.model} {self.space.hash} {self.space.dimensions}"

    async def table(self) -> Identifier | None:
        """The table of this space, or None if nothing was ever stored in it."""
        names = _table_names.setdefault(self.session.pool, {})
        if self.space not in names:
            row = await self.session.row(SQL["find_space"], space_key(self.space))
            if row is None:
                return None
            names[self.space] = row["table_name"]
        return Identifier(names[self.space])

    async def ensure(self) -> Identifier:
        """The table of this space, created if needed, in a transaction of its own: before the first write."""
        if table := await self.table():
            return table
        async with self.session.pool.connection() as connection, connection.transaction():
            await connection.execute(SQL["lock"])
            row = await (await connection.execute(SQL["add_space"], space_key(self.space))).fetchone()
            # Where another process was first, to define its table again would wait for all who write to it.
            if row is None:
                row = await fetch_one(connection, SQL["find_space"], space_key(self.space))
            else:
                for statement in definition(row["table_name"], self.space.dimensions):
                    await connection.execute(statement)
        return Identifier(row["table_name"])

    async def add(self, table: Identifier, fact_id: str, embedding: Sequence[float] | HalfVector) -> None:
        """Store the vector of a fact, once."""
        vector = embedding if isinstance(embedding, HalfVector) else to_halfvec(embedding)
        args = {"fact_id": fact_id, "embedding": vector}
        await self.session.write(SQL["add"].format(table=table), args)


def definition(table_name: str, dimensions: int) -> list[Composed]:
    """The statements that make the table of a space."""
    table, index = Identifier(table_name), Identifier(f"{table_name}_search")
    return [
        SQL["create_table"].format(table=table, dimensions=Literal(dimensions)),
        SQL["set_storage_plain"].format(table=table),
        SQL["create_index"].format(table=table, index=index),
    ]


async def copy_to_vectors(session: Session, fact_ids: Sequence[str]) -> None:
    """Copy confidence and status of facts to their vectors, in every space that has some."""
    if not fact_ids:
        return
    for row in await session.rows(SQL["all_spaces"]):
        table = Identifier(row["table_name"])
        await session.write(SQL["copy_from_facts"].format(table=table), {"fact_ids": list(fact_ids)})


def space_key(space: Space) -> dict[str, str | int]:
    """The query arguments that identify a space."""
    return {"model": space.model, "hash": space.hash, "dimensions": space.dimensions}


def to_halfvec(embedding: Sequence[float]) -> HalfVector:
    """A vector as an argument of a query, in half precision and binary: to write it out as text takes 30 times as long."""
    return HalfVector(list(embedding))


def halfvec_text(embedding: Sequence[float]) -> str:
    """A vector as pgvector reads it, rounded to half precision."""
    text: str = HalfVector(list(embedding)).to_text()
    return text
