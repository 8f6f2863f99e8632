"""Vectors of the present embedding model for facts that were stored under another one."""

from collections.abc import Callable
from uuid import UUID

from psycopg import errors
from psycopg.sql import Composed, Identifier

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.embeddings import Embedder, Space
from chiron_workers.errors import Conflict
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.search.vectors import Vectors, halfvec_text
from chiron_workers.runs.session import Session

SQL = load(__file__)
BATCH = 64
FIRST = UUID(int=0)


async def count_missing(session: Session, space: Space, subject_id: str | None = None) -> int:
    """How many facts, candidates too but no withdrawn ones, lack a vector of a space."""
    table = await Vectors(session, space).table()
    row = await session.row(
        SQL["count_missing"].format(lacking=_lacking(table)), {"subject_id": subject_id and slug(subject_id)}
    )
    return int(row["facts"]) if row else 0


async def reembed(
    pool: Pool,
    embedder: Embedder,
    *,
    subject_id: str | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Embed the facts of a subject, or of all, that lack a vector in the embedder's space; how many they were.

    Each batch of 64 commits by itself: stopped at any moment, the next call goes on from there. Workers may store
    facts meanwhile. Vectors of other spaces stay as they are.

    Args:
        on_progress: Called after each batch with how many were embedded so far.

    Raises:
        ChironError: The embedder fails for longer than it tries again; what was embedded stays.
    """
    table = await Vectors(Session(pool), embedder.space).ensure()
    args = {"subject_id": subject_id and slug(subject_id), "after": FIRST, "limit": BATCH}
    batch = SQL["batch"].format(lacking=_lacking(table))
    embedded_count = 0
    while rows := await Session(pool).rows(batch, args):
        vectors = await embedder.embed([row["content"] for row in rows])
        vector_args = {
            "ids": [row["id"] for row in rows],
            "embeddings": [halfvec_text(vector) for vector in vectors],
        }
        async with Session(pool) as session:
            embedded_count += len(await session.write(SQL["add"].format(table=table), vector_args))
        args["after"] = rows[-1]["id"]
        on_progress(embedded_count)
    async with pool.connection() as connection:
        await connection.execute(SQL["analyze"].format(table=table))
    return embedded_count


async def drop_other_spaces(pool: Pool, space: Space) -> list[str]:
    """Drop the vectors of every other space, and its approximate indexes; the models they were of.

    Raises:
        Conflict: Facts lack a vector in this space, which would be found by their words only from then on; or something
            holds the tables for long.
    """
    async with Session(pool) as session:
        if missing_count := await count_missing(session, space):
            facts = "1 fact has" if missing_count == 1 else f"{missing_count:,} facts have"
            raise Conflict(
                f"{facts} no vector of {space.model} yet; run `chiron reembed` for all subjects first."
            )
        try:
            return await _drop(session, space)
        except errors.LockNotAvailable:
            raise Conflict(
                "The old vectors stay: something reads or writes facts for long (a backup, a long query). Wait for it or "
                "end it, and run `chiron reembed --drop-old` again."
            ) from None


async def _drop(session: Session, space: Space) -> list[str]:
    await session.write(SQL["limit_lock_wait"])
    args = {"model": space.model, "hash": space.hash, "dimensions": space.dimensions}
    spaces = await session.write(SQL["delete_other_spaces"], args)
    for row in spaces:
        await session.write(SQL["drop"].format(table=Identifier(row["table_name"])))
    return [str(row["model"]) for row in spaces]


def _lacking(table: Identifier | None) -> Composed:
    return SQL["lacking_all"].format() if table is None else SQL["lacking"].format(table=table)
