from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers import ids
from chiron_workers.embed import Embedder
from chiron_workers.errors import ToolValidationError
from chiron_workers.settings import settings
from chiron_workers.states import EventKind, FactStatus
from chiron_workers.store.checks import folded, share, worded
from chiron_workers.store.queries import load
from chiron_workers.store.session import Session
from chiron_workers.store.subjects import Subjects, slug
from chiron_workers.store.vectors import Vectors

SQL = load(__file__)

CONTENT_CHARS_MAX = 4_000
QUOTE_CHARS_MAX = 4_000
URL_CHARS_MAX = 2_000
PATH_CHARS_MAX = 500
CONTRADICTIONS_MAX = 20


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertion that is to become a fact, with what it rests on."""

    subject_id: str
    content: str
    source_url: str
    source_score: float
    topic_path: str
    confidence: float
    contradictions: tuple[str, ...] = ()
    quote: str | None = None
    snapshot_hash: str | None = None

    @property
    def status(self) -> FactStatus:
        """Accepted above the threshold of the settings, else a candidate."""
        is_sure = self.confidence > settings().confidence_threshold
        return FactStatus.ACCEPTED if is_sure else FactStatus.CANDIDATE


@dataclass(frozen=True, slots=True)
class Stored:
    """The fact that a claim became, or the one that was there before."""

    fact_id: str
    status: FactStatus
    topic_path: str
    is_new: bool
    was_lifted: bool = False


def claim(
    *,
    subject_id: str,
    content: str,
    source_url: str,
    source_score: float,
    topic_path: str,
    confidence: float,
    contradictions: Sequence[str] = (),
    quote: str | None = None,
) -> Claim:
    """A claim fit to be stored. Raises ToolValidationError, which names the argument and what is wrong."""
    if len(contradictions) > CONTRADICTIONS_MAX:
        raise ToolValidationError(
            f"contradictions: must have at most {CONTRADICTIONS_MAX} entries (got {len(contradictions)}).",
            field="contradictions",
        )
    return Claim(
        subject_id=slug(subject_id),
        content=worded(content, field="content", chars_max=CONTENT_CHARS_MAX),
        source_url=worded(source_url, field="source_url", chars_max=URL_CHARS_MAX),
        source_score=share(source_score, field="source_score"),
        topic_path=path(topic_path),
        confidence=share(confidence, field="confidence"),
        contradictions=tuple(
            worded(other, field="contradictions", chars_max=CONTENT_CHARS_MAX) for other in contradictions
        ),
        quote=worded(quote, field="quote", chars_max=QUOTE_CHARS_MAX) if quote and quote.strip() else None,
    )


def path(topic_path: str) -> str:
    """A topic path in one form: " Python // data  model/ " becomes "Python/data model"."""
    steps = [
        folded(step) for step in worded(topic_path, field="topic_path", chars_max=PATH_CHARS_MAX).split("/")
    ]
    if not any(steps):
        raise ToolValidationError("topic_path: must be a path such as area/topic/detail.", field="topic_path")
    return "/".join(step for step in steps if step)


class Facts:
    """What is known, with the words and the page each fact rests on."""

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self.session = session
        self.embedder = embedder
        self.vectors = Vectors(session, embedder.space)

    async def add(self, claim: Claim) -> Stored:
        """Store a claim with its vector, or find the fact that says the same from the same source.

        A higher confidence given again raises that fact's, and lifts a candidate out of hiding.

        Raises:
            ToolValidationError: `contradictions` has the id of a fact that is not there, or the subject is not the
                run's own.
        """
        await self._require(claim.contradictions)
        [embedding] = await self.embedder.embed([claim.content])
        table = await self.vectors.ensure()
        await Subjects(self.session).for_writing(claim.subject_id)
        stored = await self._insert(claim) or await self._meet(claim)
        await self.vectors.add(table, stored.fact_id, embedding)
        if stored.is_new:
            self.session.emit(EventKind.FACT_STORED, _event(claim, stored))
        return stored

    async def _insert(self, claim: Claim) -> Stored | None:
        caller = self.session.caller
        fact_id = ids.new_id()
        rows = await self.session.write(
            SQL["insert"],
            {
                "id": fact_id,
                "subject_id": claim.subject_id,
                "content": claim.content,
                "quote": claim.quote,
                "source_url": claim.source_url,
                "source_score": claim.source_score,
                "topic_path": claim.topic_path,
                "confidence": claim.confidence,
                "status": claim.status,
                "contradictions": Json(claim.contradictions),
                "snapshot_hash": claim.snapshot_hash,
                "run_id": caller.run_id,
                "call_id": caller.call_id,
            },
        )
        return Stored(str(fact_id), claim.status, claim.topic_path, is_new=True) if rows else None

    async def _meet(self, claim: Claim) -> Stored:
        args = {"subject_id": claim.subject_id, "content": claim.content, "source_url": claim.source_url}
        [twin] = await self.session.write(SQL["twin"], args)
        raised = await self.session.write(
            SQL["raise_confidence"],
            {
                "fact_id": twin["fact_id"],
                "confidence": claim.confidence,
                "status": claim.status,
                "change_id": ids.new_id(),
                "run_id": self.session.caller.run_id,
                "call_id": self.session.caller.call_id,
            },
        )
        if raised:
            await self.vectors.follow(twin["fact_id"])
        now = raised[0] if raised else {"status": twin["status"], "status_before": twin["status"]}
        return Stored(
            twin["fact_id"],
            FactStatus(now["status"]),
            twin["topic_path"],
            is_new=False,
            was_lifted=now["status"] != now["status_before"],
        )

    async def _require(self, contradictions: Sequence[str]) -> None:
        named = {found for text in contradictions if (found := _as_id(text))}
        if not named:
            return
        known = {
            UUID(row["fact_id"]) for row in await self.session.rows(SQL["known"], {"fact_ids": list(named)})
        }
        if missing := named - known:
            raise ToolValidationError(
                f"contradictions: no fact has the id {', '.join(map(str, missing))}; give ids of stored "
                "facts, or write out the statements that contradict this one.",
                field="contradictions",
            )


async def best_of_runs(session: Session, batch_id: UUID, *, limit: int) -> list[DictRow]:
    """The most confident fact of each run of a batch: topic, content, quote, source_url, confidence."""
    return await session.rows(SQL["best_of_runs"], {"batch_id": batch_id, "limit": limit})


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _event(claim: Claim, stored: Stored) -> dict[str, Any]:
    return {
        "fact_id": stored.fact_id,
        "content": claim.content,
        "source_url": claim.source_url,
        "confidence": claim.confidence,
        "topic_path": claim.topic_path,
        "status": stored.status,
    }
