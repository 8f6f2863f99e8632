"""One claim as it is written: beside the other writers of its subject, or alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers import ids
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load, with_table
from chiron_workers.knowledge.coverage.subjects import Subjects, ensure_statement
from chiron_workers.knowledge.facts import locks, matching
from chiron_workers.knowledge.facts.claim_rows import assertion_columns, fact_columns
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import Confidences, ensure_sketches, sketch_statements
from chiron_workers.knowledge.facts.intents import Intent
from chiron_workers.knowledge.facts.links import Link, Links
from chiron_workers.knowledge.facts.locks import Overtaken
from chiron_workers.knowledge.facts.matching import Comparison, Match, best, match_by_rules, with_statuses
from chiron_workers.knowledge.search import vectors
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, EventKind, FactStatus, Ground, Relation

SQL = load(__file__, *matching.QUERIES)


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


@dataclass(frozen=True, slots=True)
class Addition:
    """A claim that was compared, on its way to become a fact or a source of one.

    `contradicted_ids` are the facts that its author says it contradicts.
    """

    session: Session
    comparison: Comparison
    contradicted_ids: frozenset[str]

    @property
    def claim(self) -> Claim:
        """What is added."""
        return self.comparison.claim

    async def write(self) -> StoredFact:
        """Write beside other writers of the subject.

        Raises:
            Overtaken: Roll back and begin anew.
        """
        intent = Intent.of(self.session, self.comparison)
        is_apart = not self.comparison.matches and not self.contradicted_ids
        columns = fact_columns(self.claim, str(ids.new_id()), self.session.caller)
        args = self.comparison.args | columns | {"key": intent.key}
        query = with_table(SQL["insert_unless_near" if is_apart else "look"], self.comparison.table)
        rows = await intent.begin(Statement(query, args), before=await self._groundwork())
        if not rows[0]["is_mine"]:
            raise Overtaken
        if rows[0]["ground"] is not None:
            return await self._stored_apart(args, Ground(rows[0]["ground"]))
        twin_id = rows[0]["twin_id"]
        near = [row for row in rows if row["content"] is not None]
        if await intent.wait_for_earlier(near):
            near, twin_id = await self._stored_since()
        facts = [row for row in near if row["id"] is not None]
        matches = match_by_rules(self.claim, facts)
        if is_apart and not matches and twin_id is None:  # what is near says something else
            rows = await self.session.write(with_table(SQL["insert_apart"], self.comparison.table), args)
            if not rows:
                raise Overtaken
            return await self._stored_apart(args, Ground(rows[0]["ground"]))
        return await self._write_related(matches, twin_id)

    async def write_alone(self) -> StoredFact:
        """Write while nobody else writes facts of the subject."""
        await ensure_sketches(
            self.session,
            snapshots=[self.claim.text_hash] if self.claim.text_hash else [],
            facts=[match.fact_id for match in self.comparison.matches],
        )
        await locks.lock_subject(self.session, self.claim.subject_id)
        await Subjects(self.session).ensure_writable(self.claim.subject_id)
        facts, twin_id = await self._stored_since()
        return await self._write_related(match_by_rules(self.claim, facts), twin_id)

    async def _groundwork(self) -> list[Statement]:
        """What commits before the claim, and stays if it fails: the sketch of its text, and outside of runs its subject."""
        statements = await sketch_statements(self.claim.text_hash, self.comparison.unsigned_body)
        if self.session.caller.subject_id is None:
            statements.append(ensure_statement(self.claim.subject_id, self.claim.subject_id))
        return statements

    async def _stored_apart(self, args: Mapping[str, Any], ground: Ground) -> StoredFact:
        """The fact that was stored at once, since nothing is related to it."""
        fact_id, status, confidence = args["id"], args["status"], args["confidence"]
        if ground is not Ground.STANDS or self.claim.finding.verdict.is_refusal:
            updates = await Confidences(self.session).recompute([fact_id], reason="", new_id=fact_id)
            status, confidence = updates[fact_id].status, updates[fact_id].confidence
        fact = StoredFact(fact_id, status, confidence, self.claim.topic_path, is_new=True)
        self.session.emit(EventKind.FACT_STORED, _event_data(self.claim, fact))
        return fact

    async def _write_related(self, new_matches: Sequence[Match], twin_id: str | None) -> StoredFact:
        """Write a claim that may touch other facts, whose writers were waited for."""
        matches = [*self.comparison.matches, *new_matches]
        if self.claim.text_hash:  # before the rows of facts, as `check_changes` locks them
            args = {"source_url": self.claim.source_url, "snapshot_hash": self.claim.text_hash}
            await self.session.write(SQL["reopen_change"], args)
        named_ids = (
            {match.fact_id for match in matches} | self.contradicted_ids | ({twin_id} if twin_id else set())
        )
        statuses = await locks.lock_facts(self.session, named_ids)
        matches = with_statuses(matches, statuses)
        if repeat := best(matches, unlike=self.contradicted_ids | await self._doubted_ids(matches)):
            return await self._join(repeat.fact_id, matches)
        if twin_id is not None:  # the same words from the same source, which another embedding model stored
            await self._add_vector(twin_id)
            return await self._join(twin_id, matches)
        return await self._insert(matches)

    async def _stored_since(self) -> tuple[list[DictRow], str | None]:
        """The facts near the claim that came up since it was compared; and its twin."""
        claim = self.claim
        twin_args = {"subject_id": claim.subject_id, "content": claim.content, "source_url": claim.source_url}
        rows, twin_rows = await self.session.rows_of(
            Statement(with_table(SQL["stored_since"], self.comparison.table), self.comparison.args),
            Statement(SQL["find_twin"], twin_args),
        )
        return rows, twin_rows[0]["id"] if twin_rows else None

    async def _add_vector(self, fact_id: str) -> None:
        args = {"fact_id": fact_id, "embedding": self.comparison.embedding}
        await self.session.write(vectors.SQL["add"].format(table=self.comparison.table), args)

    async def _insert(self, matches: Sequence[Match]) -> StoredFact:
        """The claim as a fact of its own, linked to those that it is related to."""
        fact_id = str(ids.new_id())
        columns = fact_columns(self.claim, fact_id, self.session.caller)
        if not await self.session.write(SQL["insert"], columns):
            raise Overtaken
        await self._add_vector(fact_id)
        superseded_ids = await self._supersede(fact_id, matches)
        links = await self._link(
            fact_id,
            [match for match in matches if match.fact_id not in superseded_ids],
            self.contradicted_ids - superseded_ids,
        )
        confidences = Confidences(self.session)
        reason = f"held against the new fact {fact_id}"
        update = (await confidences.recompute_with_partners(fact_id, reason, new_id=fact_id))[fact_id]
        fact = StoredFact(
            fact_id,
            update.status,
            update.confidence,
            self.claim.topic_path,
            is_new=True,
            matches=links,
            superseded_ids=tuple(sorted(superseded_ids)),
        )
        self.session.emit(EventKind.FACT_STORED, _event_data(self.claim, fact))
        return fact

    async def _join(self, fact_id: str, matches: Sequence[Match]) -> StoredFact:
        """Give a known fact a further source, and link it to what the words of that source contradict."""
        claim, caller = self.claim, self.session.caller
        rows = await self.session.write(
            SQL["join"],
            {"id": ids.new_id(), "fact_id": fact_id, "run_id": caller.run_id, "call_id": caller.call_id}
            | assertion_columns(claim),
        )
        if rows:
            await self.session.write(SQL["forget_losses"], {"ids": [row["id"] for row in rows]})
        superseded_ids = await self._supersede(fact_id, matches)
        contradictions = [
            match
            for match in matches
            if match.fact_id not in {fact_id, *superseded_ids} and match.relation is Relation.CONTRADICTS
        ]
        other_ids = self.contradicted_ids - {fact_id} - superseded_ids
        links = await self._link(fact_id, contradictions, other_ids)
        if claim.contradictions:
            args = {"fact_id": fact_id, "contradictions": Json(claim.contradictions)}
            await self.session.write(SQL["note_contradictions"], args)
        is_news = bool(rows or links or other_ids)
        updates = (
            await Confidences(self.session).recompute_with_partners(fact_id, f"also in {claim.source_url}")
            if is_news
            else {}
        )
        [fact] = await self.session.rows(SQL["joined"], {"fact_id": fact_id})
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

    async def _supersede(self, fact_id: str, matches: Sequence[Match]) -> frozenset[str]:
        """Name a fact as the one that its source says now, in place of others that it said before; their ids.

        A source does not contradict itself: the words of those are gone from it.
        """
        other_ids = {match.fact_id for match in matches if match.relation is Relation.CONTRADICTS}
        other_ids |= self.contradicted_ids
        if not (self.claim.counts_in_full and other_ids - {fact_id}):
            return frozenset()
        args = {"fact_ids": sorted(other_ids - {fact_id}), "source_url": self.claim.source_url}
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
            await Links(self.session).add(
                Link(fact_id, match.fact_id, match.relation, match.reason, match.decided_by)
            )
        for other_id in sorted(set(contradicted_ids) - {match.fact_id for match in current}):
            reason = "The agent that stored it says so."
            await Links(self.session).add(
                Link(fact_id, other_id, Relation.CONTRADICTS, reason, Decider.AGENT)
            )
        return tuple(links)

    async def _doubted_ids(self, matches: Sequence[Match]) -> frozenset[str]:
        """The facts that say the same in other words, which their own quotes do not bear out."""
        same_ids = [match.fact_id for match in matches if match.relation is Relation.SAME]
        args = {"fact_ids": same_ids, "content": self.claim.content}
        rows = await self.session.rows(SQL["doubted"], args) if same_ids else []
        return frozenset(row["fact_id"] for row in rows)


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
