from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import NotFound, ToolValidationError
from chiron_workers.evidence.statements.relation import speak_of_different_times
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.facts.additions import Addition, StoredFact
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import Confidences, ConfidenceUpdate, ensure_sketches
from chiron_workers.knowledge.facts.links import Links
from chiron_workers.knowledge.facts.locks import Overtaken, lock_subject
from chiron_workers.knowledge.facts.matching import Matching
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import Vectors
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import FactStatus

SQL = load(__file__)


TRIES_MAX = 3  # beside other writers, before the subject is locked


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
        run how it stands to a known fact, before anything is written. Writers of one subject wait for each other only where
        their claims are related, or touch the same facts.

        Raises:
            ToolValidationError: `contradictions` has the id of a fact that is not there, or the subject is not the
                run's own.
        """
        contradicted_ids = await self._contradicted_ids(claim)
        Subjects(self.session).require_writable(claim.subject_id)
        [embedding] = await self.embedder.embed([claim.content])
        table = await self.vectors.ensure()
        comparison = await self.matching.compare(claim, embedding, table)
        addition = Addition(self.session, comparison, contradicted_ids)
        if self.session.is_writing:  # what it has written cannot be committed before
            return await addition.write_alone()
        await ensure_sketches(self.session, facts=[match.fact_id for match in comparison.matches])
        for _ in range(TRIES_MAX):
            with suppress(Overtaken):
                return await addition.write()
            await self.session.begin_anew()
        return await addition.write_alone()

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
        """Lock the one subject of some facts, after the sketches of their sources are stored; whether there is any."""
        await ensure_sketches(self.session, snapshots=[], facts=fact_ids)
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
        return await self.confidences.recompute_with_partners(fact_id, reason, new_id=new_id)

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
