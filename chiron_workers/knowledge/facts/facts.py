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
from chiron_workers.evidence.origins import Assertion
from chiron_workers.evidence.statements.relation import speak_of_different_times
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import (
    Confidences,
    ConfidenceUpdate,
    compute_confidence,
    ensure_minhashes,
    status_of,
)
from chiron_workers.knowledge.facts.links import Link, Links
from chiron_workers.knowledge.facts.locks import lock_subject
from chiron_workers.knowledge.facts.matching import Match, Matching, best
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import Vectors
from chiron_workers.knowledge.search.word_index import text_args
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import Decider, EventKind, FactStatus, Relation

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class StoredFact:
    """The fact that a claim became, or the one that was there before, with the facts it is related to.

    `is_joined` says that a known fact got a further source by it, `is_lifted` that a candidate is shown now, and
    `superseded_ids` are the facts in whose place its source says this.
    """

    fact_id: str
    status: FactStatus
    confidence: float
    topic_path: str
    is_new: bool
    is_joined: bool = False
    is_lifted: bool = False
    matches: tuple[Match, ...] = ()
    superseded_ids: tuple[str, ...] = ()


class Facts:
    """Facts, each with the statements and sources it rests on."""

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
        contradicted_ids = await self._contradicted_ids(claim)
        [embedding] = await self.embedder.embed([claim.content])
        table = await self.vectors.ensure()
        candidates = await self.matching.candidates(claim, embedding, table)
        await ensure_minhashes(
            self.session,
            snapshots=[claim.text_hash] if claim.text_hash else [],
            facts=[match.fact_id for match in candidates.matches],
        )
        await self.lock_subject(claim.subject_id)
        if claim.text_hash:  # before the rows of facts, as `check_changes` locks them
            args = {"source_url": claim.source_url, "snapshot_hash": claim.text_hash}
            await self.session.write(SQL["reopen_change"], args)
        await Subjects(self.session).ensure_writable(claim.subject_id)
        matches = await self.matching.recheck(candidates, claim, embedding, table)
        if repeat := best(matches, unlike=contradicted_ids | await self._doubted_ids(claim, matches)):
            return await self._join(claim, repeat.fact_id, matches, contradicted_ids)
        fact_id = await self._insert(claim)
        if fact_id is None:  # the same words from the same source, which another embedding model stored
            twin_id = await self._find_twin(claim)
            await self.vectors.add(table, twin_id, embedding)
            return await self._join(claim, twin_id, matches, contradicted_ids)
        await self.vectors.add(table, fact_id, embedding)
        superseded_ids = await self._supersede(fact_id, claim, matches, contradicted_ids)
        links = await self._link(
            fact_id,
            [match for match in matches if match.fact_id not in superseded_ids],
            contradicted_ids - superseded_ids,
        )
        updates = await self.recompute_with_partners(
            fact_id, f"held against the new fact {fact_id}", new_id=fact_id
        )
        update = updates[fact_id]
        fact = StoredFact(
            fact_id,
            update.status,
            update.confidence,
            claim.topic_path,
            is_new=True,
            matches=links,
            superseded_ids=tuple(sorted(superseded_ids)),
        )
        self.session.emit(EventKind.FACT_STORED, _event_data(claim, fact))
        return fact

    async def status(self, fact_id: str) -> FactStatus:
        """Whether a fact is shown. Raises NotFound."""
        row = await self.session.row(SQL["state"], {"fact_id": fact_id})
        if row is None:
            raise NotFound(f"There is no fact {fact_id}.")
        return FactStatus(row["status"])

    async def lock_subject(self, subject_id: str) -> None:
        """Be the only writer of a subject's facts until the commit. The first statement of a transaction."""
        await lock_subject(self.session, subject_id)

    async def lock_subject_of(self, fact_ids: Sequence[str]) -> bool:
        """Lock the one subject of some facts, after the minhashes of their sources are stored; whether there is any."""
        await ensure_minhashes(self.session, snapshots=[], facts=fact_ids)
        subject = await self.session.row(SQL["subject_of"], {"fact_ids": list(fact_ids)})
        if subject is None:
            return False
        await self.lock_subject(subject["subject_id"])
        return True

    async def recompute(self, fact_ids: Sequence[str], *, reason: str) -> dict[str, ConfidenceUpdate]:
        """Lock the subject of facts, all of one, and compute their confidences anew."""
        if not await self.lock_subject_of(fact_ids):
            return {}
        return await self.confidences.recompute(fact_ids, reason=reason)

    async def recompute_with_partners(
        self, fact_id: str, reason: str, *, new_id: str | None = None
    ) -> dict[str, ConfidenceUpdate]:
        """Compute anew the confidence of a fact and of those whose confidence depends on it; the subject is locked."""
        partner_ids = await self.links.partners(fact_id)
        return await self.confidences.recompute([fact_id, *partner_ids], reason=reason, new_id=new_id)

    async def _insert(self, claim: Claim) -> str | None:
        """The id of the new fact; None where the subject has the same statement from the same source."""
        caller = self.session.caller
        fact_id = ids.new_id()
        assertion = Assertion(
            claim.source_url, claim.source_score, claim.counts_in_full, kind=claim.source_kind
        )
        confidence = compute_confidence([assertion], [])
        rows = await self.session.write(
            SQL["insert"],
            {
                "id": fact_id,
                "subject_id": claim.subject_id,
                "topic_path": claim.topic_path,
                "confidence": confidence.value,
                "status": status_of(confidence),
                "contradictions": Json(claim.contradictions),
                "run_id": caller.run_id,
                "call_id": caller.call_id,
            }
            | _assertion_args(claim)
            | text_args(claim.content),
        )
        return str(fact_id) if rows else None

    async def _find_twin(self, claim: Claim) -> str:
        args = {"subject_id": claim.subject_id, "content": claim.content, "source_url": claim.source_url}
        [twin] = await self.session.write(SQL["find_twin"], args)
        return str(twin["fact_id"])

    async def _join(
        self, claim: Claim, fact_id: str, matches: Sequence[Match], contradicted_ids: Collection[str]
    ) -> StoredFact:
        """Give a known fact a further source, and link it to what the words of that source contradict."""
        caller = self.session.caller
        rows = await self.session.write(
            SQL["join"],
            {"id": ids.new_id(), "fact_id": fact_id, "run_id": caller.run_id, "call_id": caller.call_id}
            | _assertion_args(claim),
        )
        await self.session.write(SQL["forget_losses"], {"ids": [row["id"] for row in rows]})
        superseded_ids = await self._supersede(fact_id, claim, matches, contradicted_ids)
        contradictions = [
            match
            for match in matches
            if match.fact_id not in {fact_id, *superseded_ids} and match.relation is Relation.CONTRADICTS
        ]
        other_ids = set(contradicted_ids) - {fact_id} - superseded_ids
        links = await self._link(fact_id, contradictions, other_ids)
        await self.session.write(
            SQL["note_contradictions"], {"fact_id": fact_id, "contradictions": Json(claim.contradictions)}
        )
        is_news = bool(rows or links or other_ids)
        updates = (
            await self.recompute_with_partners(fact_id, f"also in {claim.source_url}") if is_news else {}
        )
        [fact] = await self.session.write(SQL["state"], {"fact_id": fact_id})
        if fact["run_id"] != caller.run_id:
            self.session.confirmed_ids.add(fact_id)
        return StoredFact(
            fact_id,
            FactStatus(fact["status"]),
            fact["confidence"],
            fact["topic_path"],
            is_new=False,
            is_joined=bool(rows),
            is_lifted=fact_id in updates and updates[fact_id].is_lifted,
            matches=links,
            superseded_ids=tuple(sorted(superseded_ids)),
        )

    async def _supersede(
        self, fact_id: str, claim: Claim, matches: Sequence[Match], contradicted_ids: Collection[str]
    ) -> frozenset[str]:
        """Name a fact as the one that its source says now, in place of others that it said before; their ids.

        A source does not contradict itself: the words of those are gone from it.
        """
        other_ids = {match.fact_id for match in matches if match.relation is Relation.CONTRADICTS}
        other_ids |= set(contradicted_ids)
        if not (claim.counts_in_full and other_ids - {fact_id}):
            return frozenset()
        args = {"fact_ids": sorted(other_ids - {fact_id}), "source_url": claim.source_url}
        rows = await self.session.rows(SQL["outdated"], args)
        superseded_ids = [row["fact_id"] for row in rows]
        if superseded_ids:
            await self.session.write(SQL["supersede"], {"fact_id": fact_id, "fact_ids": superseded_ids})
        return frozenset(superseded_ids)

    async def _link(
        self, fact_id: str, matches: Sequence[Match], contradicted_ids: Collection[str]
    ) -> tuple[Match, ...]:
        """Link a new fact to its matches, and to those that the agent says it contradicts.

        Where the rules see the same claim or a support in what the agent calls a contradiction, nothing is linked: a
        doubt is no contradiction.
        """
        current = [match for match in matches if match.status is not FactStatus.WITHDRAWN]
        links = [
            match
            for match in current
            if match.relation is not Relation.SAME
            and (match.fact_id not in contradicted_ids or match.relation is Relation.CONTRADICTS)
        ]
        for match in links:
            await self.links.add(Link(fact_id, match.fact_id, match.relation, match.reason, match.decided_by))
        for other_id in sorted(set(contradicted_ids) - {match.fact_id for match in current}):
            reason = "The agent that stored it says so."
            await self.links.add(Link(fact_id, other_id, Relation.CONTRADICTS, reason, Decider.AGENT))
        return tuple(links)

    async def _doubted_ids(self, claim: Claim, matches: Sequence[Match]) -> frozenset[str]:
        """The facts that say the same in other words, which their own quotes do not bear out."""
        same_ids = [match.fact_id for match in matches if match.relation is Relation.SAME]
        args = {"fact_ids": same_ids, "content": claim.content}
        rows = await self.session.rows(SQL["doubted"], args) if same_ids else []
        return frozenset(row["fact_id"] for row in rows)

    async def _contradicted_ids(self, claim: Claim) -> frozenset[str]:
        """The facts that a claim is said to contradict, but for those that are over before it begins, or the other way round.

        Raises:
            ToolValidationError: One is not there, or is of another subject.
        """
        fact_ids = {fact_id for text in claim.contradictions if (fact_id := parse_id_or_none(text))}
        rows = await self.session.rows(SQL["subjects_of"], {"fact_ids": list(fact_ids)}) if fact_ids else []
        if unknown_ids := fact_ids - {UUID(row["fact_id"]) for row in rows}:
            raise ToolValidationError(
                f"contradictions: no fact has the id {', '.join(map(str, unknown_ids))}; give ids of stored "
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
        return frozenset(
            row["fact_id"] for row in rows if not speak_of_different_times(claim.content, row["content"])
        )


async def best_of_runs(session: Session, batch_id: UUID, *, limit: int) -> list[DictRow]:
    """The most confident fact of each run of a batch: topic, content, quote, source_url, confidence."""
    return await session.rows(SQL["best_of_runs"], {"batch_id": batch_id, "limit": limit})


def _assertion_args(claim: Claim) -> dict[str, Any]:
    return {
        "content": claim.content,
        "quote": claim.quote,
        "quote_state": claim.quote_state,
        "quote_start": claim.place.start if claim.place else None,
        "quote_end": claim.place.end if claim.place else None,
        "source_url": claim.source_url,
        "source_score": claim.source_score,
        "claimed_score": claim.claimed_score,
        "source_kind": claim.source_kind,
        "claimed_confidence": claim.confidence,
        "snapshot_hash": claim.text_hash,
        "counts_in_full": claim.counts_in_full,
        "context": claim.context,
        "verdict": claim.finding.verdict,
        "verdict_reason": claim.finding.reason,
        "verdict_by": claim.finding.judge,
        "observed_at": claim.observed_at,
        "valid_from": claim.validity.valid_from,
        "valid_until": claim.validity.valid_until,
    }


def _event_data(claim: Claim, fact: StoredFact) -> dict[str, Any]:
    return {
        "fact_id": fact.fact_id,
        "content": claim.content,
        "source_url": claim.source_url,
        "confidence": fact.confidence,
        "topic_path": claim.topic_path,
        "status": fact.status,
        "quote_state": claim.quote_state,
        "verdict": claim.finding.verdict,
        "contradicts": [match.fact_id for match in fact.matches if match.relation is Relation.CONTRADICTS],
    }
