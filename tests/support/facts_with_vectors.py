"""Facts as rows with their vectors, for what reads them: how they came to be stored does not matter there."""

from typing import Any

from psycopg.sql import SQL, Identifier, Placeholder

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.search.vectors import Vectors
from chiron_workers.runs.session import Session

FACT = {
    "subject_id": "moon",
    "source_url": "https://example.org/moon",
    "source_score": 0.9,
    "topic_path": "orbit",
    "confidence": 0.9,
    "status": "accepted",
}


async def insert(session: Session, table: str, **row: Any) -> None:
    """One row into a table."""
    statement = SQL("insert into {} ({}) values ({})").format(
        Identifier(table), SQL(", ").join(map(Identifier, row)), SQL(", ").join(map(Placeholder, row))
    )
    await session.write(statement, row)


async def keep(pool: Pool, embedder: Embedder | None, content: str, **fields: Any) -> str:
    """Keep a fact, with its vector unless there is no embedder; its id."""
    row = FACT | fields | {"id": new_id(), "content": content}
    if embedder:
        [vector] = await embedder.embed([content])
        table = await Vectors(Session(pool), embedder.space).ensure()
    async with Session(pool) as session:
        await Subjects(session).ensure(str(row["subject_id"]), str(row["subject_id"]))
        await insert(session, "facts", **row)
        if embedder:
            await Vectors(session, embedder.space).add(table, str(row["id"]), vector)
    return str(row["id"])


async def link(pool: Pool, fact_id: str, other_id: str, relation: str) -> None:
    """Say how one fact stands to another."""
    async with Session(pool) as session:
        await insert(
            session,
            "fact_links",
            fact_id=fact_id,
            other_id=other_id,
            relation=relation,
            decided_by="rules",
            reason="",
        )


async def corroborate(pool: Pool, fact_id: str, source_url: str, content: str = "The same.") -> None:
    """Let another source say the same as a fact."""
    async with Session(pool) as session:
        await insert(
            session,
            "corroborations",
            id=new_id(),
            fact_id=fact_id,
            content=content,
            quote_state="unverified",
            source_url=source_url,
            source_score=0.8,
            claimed_confidence=0.8,
        )
