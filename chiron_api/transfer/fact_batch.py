import json
from dataclasses import dataclass, field
from typing import Any

from chiron_api.transfer.quotes import rechecked
from chiron_api.transfer.records import AssertionRecord, FactRecord
from chiron_workers import ids
from chiron_workers.knowledge.transfers import AssertionRow, ChangeRow, FactRow, Transfers
from chiron_workers.states import QuoteState
from chiron_workers.store import Store

# What the row of a fact and that of a further assertion have in common.
GROUNDS = (
    "content",
    "quote",
    "quote_state",
    "quote_start",
    "quote_end",
    "source_url",
    "source_score",
    "snapshot_hash",
)
REASON = "imported"
ROUNDING = 1e-4  # of a confidence that is computed
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
    async def prepare(cls, store: Store, found: list[FactRecord]) -> "FactBatch":
        """Check quotes, find out what is known already, and embed the rest; nothing is written yet."""
        facts, unproven = await _with_checked_quotes(Transfers(store.session), found)
        batch = cls(facts, unproven=unproven)
        await batch._place(Transfers(store.session))
        contents = [fact.assertions[0].content for fact in batch.new.values()]
        embeddings = await store.embedder.embed(contents) if contents else []
        batch.vectors = dict(zip(batch.new, embeddings, strict=True))
        return batch

    async def write(self, store: Store) -> tuple[int, int]:
        """Write the batch in the session's transaction; how many facts and how many further assertions are new."""
        transfers = Transfers(store.session)
        table = await store.facts.vectors.ensure()
        for subject_id in sorted({fact.subject_id for fact in self.facts}):
            await store.facts.lock_subject(subject_id)
        written = await transfers.add_facts([_fact_row(fact_id, fact) for fact_id, fact in self.new.items()])
        await self._meet(transfers, written)
        for fact_id in self.new:
            await store.facts.vectors.add(table, fact_id, self.vectors[fact_id])
        further = [
            _assertion_row(self.places[str(fact.id)], one, fact)
            for fact in self.facts
            for one in self._further(fact)
        ]
        assertions = await transfers.add_assertions(further)
        await transfers.add_changes(
            [
                ChangeRow(
                    str(one.id), str(ids.new_id()), fact_id, one.confidence, one.status, one.reason, one.at
                )
                for fact_id, fact in self.new.items()
                for one in fact.changes
            ]
        )
        await self._disbelieve(store)
        return len(self.new), assertions

    async def _disbelieve(self, store: Store) -> None:
        """Lower at once what the file says more of than its sources give: the import may be cut before its last step."""
        found = await store.facts.confidences.of(list(self.new))
        lower = [one for one, fact in self.new.items() if found[one].value < fact.confidence - ROUNDING]
        if lower:
            await store.facts.confidences.recompute(lower, reason=REASON)

    def _further(self, fact: FactRecord) -> list[AssertionRecord]:
        """The assertions that are not in the fact's own row: the first is, if that row is made of this very record."""
        is_own = self.new.get(self.places[str(fact.id)]) is fact
        return fact.assertions[1:] if is_own else fact.assertions

    async def _place(self, transfers: Transfers) -> None:
        known = await transfers.known([(str(fact.id), *_statement(fact)) for fact in self.facts])
        placed = dict[Statement, str]()
        for fact, (twin_id, is_taken) in zip(self.facts, known, strict=True):
            place = twin_id or placed.get(_statement(fact))
            if place is None:
                place = str(ids.new_id() if is_taken else fact.id)
                self.new[place] = fact
                placed[_statement(fact)] = place
            self.places[str(fact.id)] = place

    async def _meet(self, transfers: Transfers, written: set[str]) -> None:
        """Somebody else has stored the same meanwhile: theirs is the fact then."""
        for fact_id in self.new.keys() - written:
            fact = self.new.pop(fact_id)
            [(twin_id, _)] = await transfers.known([(str(fact.id), *_statement(fact))])
            moved = twin_id or fact_id
            self.places |= {one: moved for one, place in self.places.items() if place == fact_id}


async def _with_checked_quotes(transfers: Transfers, facts: list[FactRecord]) -> tuple[list[FactRecord], int]:
    every = [one for fact in facts for one in fact.assertions]
    checked = iter(await rechecked(transfers, every))
    found = [
        fact.model_copy(update={"assertions": [next(checked) for _ in fact.assertions]}) for fact in facts
    ]
    return found, _verified(facts) - _verified(found)


def _verified(facts: list[FactRecord]) -> int:
    return sum(one.quote_state is QuoteState.VERIFIED for fact in facts for one in fact.assertions)


def _statement(fact: FactRecord) -> Statement:
    return fact.subject_id, fact.assertions[0].content, fact.assertions[0].source_url


def _grounds(one: AssertionRecord) -> dict[str, Any]:
    return {name: getattr(one, name) for name in GROUNDS}


def _fact_row(fact_id: str, fact: FactRecord) -> FactRow:
    own = fact.assertions[0]
    return FactRow(
        id=fact_id,
        subject_id=fact.subject_id,
        **_grounds(own),
        claimed_confidence=own.claimed_confidence,
        topic_path=fact.topic_path,
        confidence=fact.confidence,
        status=fact.status,
        contradictions=json.dumps(fact.contradictions),
        validated_at=fact.validated_at,
        created_at=fact.created_at,
    )


def _assertion_row(fact_id: str, one: AssertionRecord, fact: FactRecord) -> AssertionRow:
    return AssertionRow(
        id=str(one.id),
        spare_id=str(ids.new_id()),
        fact_id=fact_id,
        **_grounds(one),
        claimed_confidence=fact.confidence if one.claimed_confidence is None else one.claimed_confidence,
        created_at=one.created_at,
    )
