import json
from dataclasses import dataclass, field
from typing import Any

from chiron_api.transfer.quotes import recheck_quotes
from chiron_api.transfer.records import AssertionRecord, FactRecord
from chiron_workers import ids
from chiron_workers.knowledge import transfers
from chiron_workers.knowledge.facts.source_kinds import bind
from chiron_workers.runs.session import Session
from chiron_workers.states import QuoteState
from chiron_workers.store import Store

REASON = "imported"
CONFIDENCE_TOLERANCE = 1e-4  # of a confidence that is computed
Statement = tuple[str, str, str]  # subject, content and address: there is one fact of each


@dataclass(slots=True)
class FactBatch:
    """Facts of a file that are written together. `places` tells which fact each id of the file is here."""

    facts: list[FactRecord]
    new: dict[str, FactRecord] = field(default_factory=dict)  # by the ids that they get
    places: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, list[float]] = field(default_factory=dict)
    unproven: int = 0

    @classmethod
    async def prepare(cls, store: Store, records: list[FactRecord]) -> "FactBatch":
        """Check quotes, find the facts that exist already and embed the others; nothing is written."""
        facts, unproven = await _recheck_quotes(store.session, records)
        batch = cls(facts, unproven=unproven)
        await batch._assign_ids(store.session)
        contents = [fact.assertions[0].content for fact in batch.new.values()]
        embeddings = await store.embedder.embed(contents) if contents else []
        batch.vectors = dict(zip(batch.new, embeddings, strict=True))
        return batch

    async def write(self, store: Store) -> tuple[int, int]:
        """Write the batch in the session's transaction; how many facts and how many further assertions are new."""
        table = await store.facts.vectors.ensure()
        for subject_id in sorted({fact.subject_id for fact in self.facts}):
            await store.facts.lock_subject(subject_id)
        fact_rows = [_fact_row(fact_id, fact) for fact_id, fact in self.new.items()]
        inserted_ids = {row["id"] for row in await transfers.add(store.session, "facts", fact_rows)}
        await self._join_existing(store.session, inserted_ids)
        for fact_id in self.new:
            await store.facts.vectors.add(table, fact_id, self.vectors[fact_id])
        further = [
            _assertion_row(self.places[str(fact.id)], assertion, fact)
            for fact in self.facts
            for assertion in self._further(fact)
        ]
        assertions = await transfers.add(store.session, "assertions", further)
        changes = [
            change.model_dump() | {"spare_id": ids.new_id(), "fact_id": fact_id}
            for fact_id, fact in self.new.items()
            for change in fact.changes
        ]
        await transfers.add(store.session, "changes", changes)
        await self._lower_confidences(store)
        return len(self.new), len(assertions)

    async def _lower_confidences(self, store: Store) -> None:
        """Lower confidences that the sources do not carry at once, since the import may be cut before its last step."""
        confidences = await store.facts.confidences.of(list(self.new))
        lower = [
            fact_id
            for fact_id, fact in self.new.items()
            if confidences[fact_id].value < fact.confidence - CONFIDENCE_TOLERANCE
        ]
        if lower:
            await store.facts.confidences.recompute(lower, reason=REASON)

    def _further(self, fact: FactRecord) -> list[AssertionRecord]:
        """The assertions that are not in the fact's own row: the first is, if that row is made of this very record."""
        is_own = self.new.get(self.places[str(fact.id)]) is fact
        return fact.assertions[1:] if is_own else fact.assertions

    async def _assign_ids(self, session: Session) -> None:
        twins = await transfers.find_twins(
            session, [(str(fact.id), *_statement(fact)) for fact in self.facts]
        )
        id_by_statement = dict[Statement, str]()
        for fact, (twin_id, is_taken) in zip(self.facts, twins, strict=True):
            place = twin_id or id_by_statement.get(_statement(fact))
            if place is None:
                place = str(ids.new_id() if is_taken else fact.id)
                self.new[place] = fact
                id_by_statement[_statement(fact)] = place
            self.places[str(fact.id)] = place

    async def _join_existing(self, session: Session, inserted_ids: set[str]) -> None:
        """Take the facts that another process stored meanwhile for those that were not inserted."""
        for fact_id in self.new.keys() - inserted_ids:
            fact = self.new.pop(fact_id)
            [(twin_id, _)] = await transfers.find_twins(session, [(str(fact.id), *_statement(fact))])
            existing_id = twin_id or fact_id
            self.places |= {
                file_id: existing_id for file_id, place in self.places.items() if place == fact_id
            }


async def _recheck_quotes(session: Session, facts: list[FactRecord]) -> tuple[list[FactRecord], int]:
    assertions = [assertion for fact in facts for assertion in fact.assertions]
    rechecks = iter(await recheck_quotes(session, assertions))
    rechecked_facts = [
        fact.model_copy(update={"assertions": [next(rechecks) for _ in fact.assertions]}) for fact in facts
    ]
    return rechecked_facts, _count_verified(facts) - _count_verified(rechecked_facts)


def _count_verified(facts: list[FactRecord]) -> int:
    return sum(
        assertion.quote_state is QuoteState.VERIFIED for fact in facts for assertion in fact.assertions
    )


def _statement(fact: FactRecord) -> Statement:
    return fact.subject_id, fact.assertions[0].content, fact.assertions[0].source_url


def _fact_row(fact_id: str, fact: FactRecord) -> dict[str, Any]:
    return {
        **_columns(fact.assertions[0]),
        **fact.model_dump(exclude={"kind", "assertions", "changes", "links"}),
        "id": fact_id,
        "contradictions": json.dumps(fact.contradictions),
    }


def _columns(assertion: AssertionRecord) -> dict[str, Any]:
    """The columns of an assertion, its score bound by the kind that its source has here, whatever the file says."""
    claimed_score = assertion.source_score if assertion.claimed_score is None else assertion.claimed_score
    return assertion.model_dump() | bind(assertion.source_url, claimed_score)


def _assertion_row(fact_id: str, assertion: AssertionRecord, fact: FactRecord) -> dict[str, Any]:
    row = _columns(assertion) | {"spare_id": ids.new_id(), "fact_id": fact_id}
    if assertion.claimed_confidence is None:
        row["claimed_confidence"] = fact.confidence
    return row
