from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import NotFound, ToolValidationError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import (
    Confidences,
    ConfidenceUpdate,
    computed,
    ensure_minhashes,
    status_of,
)
from chiron_workers.knowledge.facts.links import Link, Links
from chiron_workers.knowledge.facts.matching import Match, Matching, best
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import Vectors, copy_to_vectors
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import Decider, EventKind, FactStatus, Relation

SQL = load(__file__)
REASON_CHARS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class StoredFact:
    """The fact that a claim became, or the one that was there before, with how it stands to others.

    `is_joined` says that a known fact got a further source by it.
    """

    fact_id: str
    status: FactStatus
    confidence: float
    topic_path: str
    is_new: bool
    is_joined: bool = False
    is_lifted: bool = False
    related: tuple[Match, ...] = ()


class Facts:
    """What is known, with the words and the sources each fact rests on."""

    def __init__(self, session: Session, embedder: Embedder, side_model: SideModel | None = None) -> None:
        self.session = session
        self.embedder = embedder
        self.vectors = Vectors(session, embedder.space)
        self.links = Links(session)
        self.confidences = Confidences(session)
        self.matching = Matching(session, Search(session, embedder), side_model)

    async def add(self, claim: Claim) -> StoredFact:
        """Store a claim with its vector, or add its source to the fact that says the same.

        Its confidence, and that of each fact it supports or contradicts, is computed anew. May ask the model of the
        run how it stands to a known fact, before anything is written.

        Raises:
            ToolValidationError: `contradictions` has the id of a fact that is not there, or the subject is not the
                run's own.
        """
        named = await self._known(claim)
        [embedding] = await self.embedder.embed([claim.content])
        table = await self.vectors.ensure()
        compared = await self.matching.candidates(claim, embedding, table)
        hashes = [claim.text_hash] if claim.text_hash else []
        await ensure_minhashes(self.session, snapshots=hashes, facts=[one.fact_id for one in compared.found])
        await self.lock_subject(claim.subject_id)
        await Subjects(self.session).ensure_writable(claim.subject_id)
        found = await self.matching.recheck(compared, claim, embedding, table)
        if same := best(found, unlike=named):
            return await self._join(claim, same.fact_id, found, named)
        fact_id = await self._insert(claim)
        if fact_id is None:  # the same words from the same source, which another embedding model stored
            twin_id = await self._twin(claim)
            await self.vectors.add(table, twin_id, embedding)
            return await self._join(claim, twin_id, found, named)
        await self.vectors.add(table, fact_id, embedding)
        related = await self._link(fact_id, found, named)
        settled = await self._settle_with_partners(
            fact_id, f"held against the new fact {fact_id}", new_id=fact_id
        )
        now = settled[fact_id]
        stored = StoredFact(
            fact_id, now.status, now.confidence, claim.topic_path, is_new=True, related=related
        )
        self.session.emit(EventKind.FACT_STORED, _event(claim, stored))
        return stored

    async def withdraw(self, fact_id: str, *, reason: str) -> FactStatus:
        """Take a fact out: no search finds it, and it counts for and against nothing. What its status was.

        Raises:
            NotFound: There is no such fact.
        """
        return await self._set_aside(fact_id, f"withdrawn: {reason}" if reason else "withdrawn", back=False)

    async def reinstate(self, fact_id: str, *, reason: str) -> FactStatus:
        """Bring a fact back that was withdrawn, with the confidence it has now. Raises NotFound."""
        return await self._set_aside(
            fact_id, f"brought back: {reason}" if reason else "brought back", back=True
        )

    async def status(self, fact_id: str) -> FactStatus:
        """Whether a fact is shown. Raises NotFound."""
        row = await self.session.row(SQL["state"], {"fact_id": fact_id})
        if row is None:
            raise NotFound(f"There is no fact {fact_id}.")
        return FactStatus(row["status"])

    async def lock_subject(self, subject_id: str) -> None:
        """Be the only one to write facts of a subject until the commit. The first statement of a transaction."""
        await self.session.write(SQL["alone"], {"subject_id": subject_id})

    async def recompute(self, fact_ids: Sequence[str], *, reason: str) -> dict[str, ConfidenceUpdate]:
        """Compute the confidence of facts anew, all of one subject; what changed is kept with the reason."""
        await ensure_minhashes(self.session, snapshots=[], facts=fact_ids)
        subject = await self.session.row(SQL["subject_of"], {"fact_ids": list(fact_ids)})
        if subject is None:
            return {}
        await self.lock_subject(subject["subject_id"])
        return await self.confidences.recompute(fact_ids, reason=reason)

    async def _insert(self, claim: Claim) -> str | None:
        caller = self.session.caller
        fact_id = ids.new_id()
        own = computed([claim.assertion()], [])
        rows = await self.session.write(
            SQL["insert"],
            {
                "id": fact_id,
                "subject_id": claim.subject_id,
                "topic_path": claim.topic_path,
                "confidence": own.value,
                "status": status_of(own),
                "contradictions": Json(claim.contradictions),
                "run_id": caller.run_id,
                "call_id": caller.call_id,
            }
            | _assertion(claim),
        )
        return str(fact_id) if rows else None

    async def _twin(self, claim: Claim) -> str:
        args = {"subject_id": claim.subject_id, "content": claim.content, "source_url": claim.source_url}
        [twin] = await self.session.write(SQL["twin"], args)
        return str(twin["fact_id"])

    async def _join(
        self, claim: Claim, fact_id: str, found: Sequence[Match], named: Collection[str]
    ) -> StoredFact:
        """Give a known fact a further source, and what that one's words show of its neighbours."""
        caller = self.session.caller
        rows = await self.session.write(
            SQL["join"],
            {"id": ids.new_id(), "fact_id": fact_id, "run_id": caller.run_id, "call_id": caller.call_id}
            | _assertion(claim),
        )
        others = [one for one in found if one.fact_id != fact_id and one.relation is Relation.CONTRADICTS]
        related = await self._link(fact_id, others, set(named) - {fact_id})
        await self.session.write(
            SQL["note_contradictions"], {"fact_id": fact_id, "contradictions": Json(claim.contradictions)}
        )
        is_news = bool(rows or related or set(named) - {fact_id})
        settled = await self._settle_with_partners(fact_id, f"also in {claim.source_url}") if is_news else {}
        [fact] = await self.session.write(SQL["state"], {"fact_id": fact_id})
        return StoredFact(
            fact_id,
            FactStatus(fact["status"]),
            fact["confidence"],
            fact["topic_path"],
            is_new=False,
            is_joined=bool(rows),
            is_lifted=fact_id in settled and settled[fact_id].is_lifted,
            related=related,
        )

    async def _link(self, fact_id: str, found: Sequence[Match], named: Collection[str]) -> tuple[Match, ...]:
        """Link a new fact to its neighbours, and to those that the agent says it contradicts.

        Where the rules see the same claim or a support in what the agent calls a contradiction, nothing is linked: a
        doubt is no contradiction.
        """
        standing = [one for one in found if one.status is not FactStatus.WITHDRAWN]
        kept = [
            one
            for one in standing
            if one.relation is not Relation.SAME
            and (one.fact_id not in named or one.relation is Relation.CONTRADICTS)
        ]
        for one in kept:
            await self.links.add(Link(fact_id, one.fact_id, one.relation, one.reason, one.decided_by))
        for other_id in sorted(set(named) - {one.fact_id for one in standing}):
            why = "The agent that stored it says so."
            await self.links.add(Link(fact_id, other_id, Relation.CONTRADICTS, why, Decider.AGENT))
        return tuple(kept)

    async def _settle_with_partners(
        self, fact_id: str, reason: str, *, new_id: str | None = None
    ) -> dict[str, ConfidenceUpdate]:
        partners = await self.links.partners(fact_id)
        return await self.confidences.recompute([fact_id, *partners], reason=reason, new_id=new_id)

    async def _set_aside(self, fact_id: str, reason: str, *, back: bool) -> FactStatus:
        await ensure_minhashes(self.session, snapshots=[], facts=[fact_id])
        subject = await self.session.row(SQL["subject_of"], {"fact_ids": [fact_id]})
        if subject is None:
            raise NotFound(f"There is no fact {fact_id}.")
        await self.lock_subject(subject["subject_id"])
        args = {
            "fact_id": fact_id,
            "change_id": ids.new_id(),
            "status": FactStatus.CANDIDATE if back else FactStatus.WITHDRAWN,
            "reason": reason[:REASON_CHARS_MAX],
            "run_id": self.session.caller.run_id,
            "call_id": self.session.caller.call_id,
        }
        was = await self.status(fact_id)
        if (was is FactStatus.WITHDRAWN) is back:
            await self.session.write(SQL["set_aside"], args)
            await copy_to_vectors(self.session, [fact_id])
            about = f"fact {fact_id} was {'brought back' if back else 'withdrawn'}"
            await self._settle_with_partners(fact_id, about, new_id=fact_id)
        return was

    async def _known(self, claim: Claim) -> frozenset[str]:
        """The facts that a claim is said to contradict. Raises ToolValidationError for one that is not there."""
        named = {found for text in claim.contradictions if (found := parse_id_or_none(text))}
        rows = await self.session.rows(SQL["known"], {"fact_ids": list(named)}) if named else []
        if missing := named - {UUID(row["fact_id"]) for row in rows}:
            raise ToolValidationError(
                f"contradictions: no fact has the id {', '.join(map(str, missing))}; give ids of stored "
                "facts, or write out the statements that contradict this one.",
                field="contradictions",
            )
        for row in rows:
            if row["subject_id"] != claim.subject_id:
                raise ToolValidationError(
                    f"contradictions: fact {row['fact_id']} is of the subject {row['subject_id']!r} and not of "
                    f"{claim.subject_id!r}; write out what it says.",
                    field="contradictions",
                )
        return frozenset(map(str, named))


async def best_of_runs(session: Session, batch_id: UUID, *, limit: int) -> list[DictRow]:
    """The most confident fact of each run of a batch: topic, content, quote, source_url, confidence."""
    return await session.rows(SQL["best_of_runs"], {"batch_id": batch_id, "limit": limit})


def _assertion(claim: Claim) -> dict[str, Any]:
    return {
        "content": claim.content,
        "quote": claim.quote,
        "quote_state": claim.quote_state,
        "quote_start": claim.place.start if claim.place else None,
        "quote_end": claim.place.end if claim.place else None,
        "source_url": claim.source_url,
        "source_score": claim.source_score,
        "claimed_confidence": claim.confidence,
        "snapshot_hash": claim.text_hash,
    }


def _event(claim: Claim, stored: StoredFact) -> dict[str, Any]:
    return {
        "fact_id": stored.fact_id,
        "content": claim.content,
        "source_url": claim.source_url,
        "confidence": stored.confidence,
        "topic_path": claim.topic_path,
        "status": stored.status,
        "quote_state": claim.quote_state,
        "contradicts": [one.fact_id for one in stored.related if one.relation is Relation.CONTRADICTS],
    }
