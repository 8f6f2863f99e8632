from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, cast

from psycopg import sql

from chiron_workers.embed import Embedder
from chiron_workers.states import SHOWN, FactStatus
from chiron_workers.store.checks import bounded, share, worded
from chiron_workers.store.queries import load
from chiron_workers.store.session import Session
from chiron_workers.store.subjects import slug
from chiron_workers.store.vectors import Vectors, half

SQL = load(__file__)

QUERY_CHARS_MAX = 4_000
FOUND_MAX = 100


class FoundFact(TypedDict):
    """A fact that a search found; `score` is the cosine similarity, higher is better."""

    id: str
    subject_id: str
    content: str
    quote: str | None
    source_url: str
    source_score: float
    topic_path: str
    confidence: float
    status: str
    score: float


@dataclass(frozen=True, slots=True)
class Filters:
    """Which facts a search may find; without a subject those of all."""

    subject_id: str | None = None
    min_confidence: float = 0.0
    candidates: bool = False  # also facts that are not confirmed well enough yet


@dataclass(frozen=True, slots=True)
class Background:
    """What is known of a fact beside its words; `contradictions` are ids of facts, or statements."""

    validated_at: datetime
    contradictions: tuple[str, ...]
    source_title: str


class Search:
    """Finds facts by their meaning."""

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self.session = session
        self.embedder = embedder
        self.vectors = Vectors(session, embedder.space)

    async def find(self, query: str, *, filters: Filters, limit: int) -> list[FoundFact]:
        """The facts nearest in meaning to a query, best first: exact, recall 1.0.

        Facts written under another embedding model are not found; `unembedded` counts them.
        """
        args = {
            "statuses": [*SHOWN] + [FactStatus.CANDIDATE] * filters.candidates,
            "min_confidence": share(filters.min_confidence, field="min_confidence"),
            "limit": bounded(limit, field="top_k", most=FOUND_MAX),
            "subject_id": slug(filters.subject_id) if filters.subject_id is not None else None,
        }
        words = worded(query, field="query", chars_max=QUERY_CHARS_MAX)
        table = await self.vectors.table()
        if table is None:
            return []
        [embedding] = await self.embedder.embed([words], query=True)
        statement = SQL["nearest"].format(table=table, scope=_scope(filters.subject_id))
        return cast("list[FoundFact]", await self.session.rows(statement, args | {"query": half(embedding)}))

    async def background(self, fact_ids: Sequence[str]) -> dict[str, Background]:
        """What is known of facts beside their words, by id."""
        rows = await self.session.rows(SQL["background"], {"fact_ids": list(fact_ids)})
        return {
            row["id"]: Background(
                row["validated_at"], tuple(row["contradictions"]), row["source_title"] or ""
            )
            for row in rows
        }

    async def unembedded(self, subject_id: str | None = None) -> int:
        """How many accepted facts no search finds, since they were stored under another embedding model."""
        args = {"subject_id": slug(subject_id) if subject_id is not None else None}
        table = await self.vectors.table()
        scope = _scope(subject_id)
        query = (
            SQL["unembedded"].format(table=table, scope=scope)
            if table
            else SQL["accepted"].format(scope=scope)
        )
        row = await self.session.row(query, args)
        return int(row["facts"]) if row else 0


def _scope(subject_id: str | None) -> sql.SQL:
    return SQL["in_all" if subject_id is None else "in_a_subject"]
