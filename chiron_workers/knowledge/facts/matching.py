"""Which stored facts a claim repeats, supports, contradicts or qualifies.

This module only asks and collects. Vector search picks the candidates among the neighbours of a claim, the rules of
`evidence.statements.relation.relate` decide on each, and where they reach no verdict a model does, in `judgements`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pgvector import HalfVector
from psycopg.rows import DictRow
from psycopg.sql import Identifier

from chiron_workers.db.parameters import array
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load, with_table
from chiron_workers.evidence.statements.relation import (
    RelationVerdict,
    relate,
    speak_of_different_times,
)
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.judgements import Judgements
from chiron_workers.knowledge.facts.offload import offload_if_long
from chiron_workers.knowledge.search import search
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import to_halfvec
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import Decider, FactStatus, Relation

SQL = load(__file__, *search.QUERIES)
QUERIES = (*search.QUERIES, Path(__file__).with_suffix(".sql"))

NEIGHBOURS_MAX = 12
# Vector search only picks candidates, since vectors cannot tell a contradiction from a paraphrase.
NEIGHBOUR_COSINE_MIN = 0.5
COSINE_ROUNDING = 1e-6  # of the search
RULES_CHARS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Match:
    """A stored fact that a claim stands in a relation to other than `new`, and who decided that by what."""

    fact_id: str
    content: str
    status: FactStatus
    relation: Relation
    reason: str
    decided_by: Decider


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim with its vector, held against the facts nearest to it at a moment: those that it matches.

    Whatever comes up since and is as near is compared before the claim is stored.
    """

    claim: Claim
    embedding: HalfVector
    table: Identifier
    space: str
    at: datetime
    matches: tuple[Match, ...]
    fact_ids: frozenset[str]  # all it was compared with
    cosine_min: float
    unsigned_body: bytes | None  # of the text it rests on, where that has no sketch yet

    @property
    def args(self) -> dict[str, Any]:
        """The query arguments by which newer neighbours are looked for."""
        return {
            "subject_id": self.claim.subject_id,
            "content": self.claim.content,
            "quoted_hash": _quoted_hash(self.claim),
            "embedding": self.embedding,
            "space": self.space,
            "since": self.at,
            "compared_ids": array(sorted(self.fact_ids)),
            "cosine_min": self.cosine_min,
        }


class Matching:
    """Compares claims with the facts stored of their subject."""

    def __init__(self, session: Session, search: Search, side_model: SideModel | None) -> None:
        self._session = session
        self._search = search
        self._judgements = Judgements(session, side_model)

    async def compare(self, claim: Claim, embedding: Sequence[float], table: Identifier) -> Comparison:
        """Compare a claim with the facts nearest to it; may ask the model, so never in a transaction."""
        vector = to_halfvec(embedding)
        # Withdrawn facts too: to say again what was withdrawn does not bring it back.
        withdrawn_args = {
            "subject_id": claim.subject_id,
            "embedding": vector,
            "limit": NEIGHBOURS_MAX,
            "cosine_min": NEIGHBOUR_COSINE_MIN,
            "quoted_hash": _quoted_hash(claim),
        }
        moment_args = {
            "hash": claim.text_hash,
            "subject_id": claim.subject_id,
            "may_lock": not self._session.is_writing,  # it ends with these reads
        }
        nearest, ([moment], withdrawn_rows) = await self._search.nearest_beside(
            vector,
            claim.subject_id,
            limit=NEIGHBOURS_MAX,
            quoted_hash=_quoted_hash(claim),
            beside=(
                Statement(SQL["moment"], moment_args),
                Statement(with_table(SQL["withdrawn"], table), withdrawn_args),
            ),
        )
        rows = [row for row in nearest if row["cosine"] >= NEIGHBOUR_COSINE_MIN]
        # What is farther than all of them is not compared, whenever it was stored.
        is_full = len(rows) == NEIGHBOURS_MAX
        rows = sorted([*rows, *withdrawn_rows], key=lambda row: -row["cosine"])
        return Comparison(
            claim,
            vector,
            table,
            self._search.vectors.space_name,
            moment["at"],
            tuple(await self._verdicts(claim, rows)),
            frozenset(row["id"] for row in rows),
            max(NEIGHBOUR_COSINE_MIN, nearest[-1]["cosine"] - COSINE_ROUNDING)
            if is_full
            else NEIGHBOUR_COSINE_MIN,
            moment["body"],
        )

    async def _verdicts(self, claim: Claim, rows: Sequence[DictRow]) -> list[Match]:
        if not rows:
            return []
        contents = {row["id"]: row["content"] for row in rows}

        def decide() -> dict[str, RelationVerdict]:
            return {
                row["id"]: decide_by_rules(claim.content, row["content"], is_same_text=row["is_same_text"])
                for row in rows
            }

        verdicts = await offload_if_long(decide, claim.content, *contents.values())
        deciders = dict.fromkeys(verdicts, Decider.RULES)
        for fact_id, answer in (await self._ask(claim, contents, verdicts)).items():
            verdicts[fact_id], deciders[fact_id] = answer, Decider.MODEL
        return [match for row in rows for match in _match(row, verdicts[row["id"]], deciders[row["id"]])]

    async def _ask(
        self, claim: Claim, contents: Mapping[str, str], verdicts: Mapping[str, RelationVerdict]
    ) -> dict[str, RelationVerdict]:
        """The model's verdicts on the neighbours of a claim that the rules do not link to it, in one question.

        None where the claim repeats a fact. What the rules take for different things is asked about too; the model may link
        it, and not merge it, and not set it against what is over before it begins.
        """
        if any(verdict.relation is Relation.SAME for verdict in verdicts.values()):
            return {}
        open_ids = [fact_id for fact_id in contents if verdicts[fact_id].relation in (None, Relation.NEW)]
        open_ids = open_ids[:NEIGHBOURS_MAX]  # with the withdrawn ones there may be more
        answers = await self._judgements.decide(claim.content, [contents[fact_id] for fact_id in open_ids])
        return {
            fact_id: answer
            for fact_id, answer in zip(open_ids, answers, strict=True)
            if answer.relation is not None
            and not (answer.relation is Relation.SAME and verdicts[fact_id].relation is Relation.NEW)
            and not (
                answer.relation is Relation.CONTRADICTS
                and speak_of_different_times(claim.content, contents[fact_id])
            )
        }


def match_by_rules(claim: Claim, rows: Sequence[DictRow]) -> list[Match]:
    """The matches of a claim among neighbours that came up since it was compared; no model is asked any more."""
    return [
        match
        for row in rows
        for match in _match(
            row,
            decide_by_rules(claim.content, row["content"], is_same_text=row["is_same_text"]),
            Decider.RULES,
        )
    ]


def with_statuses(matches: Sequence[Match], statuses: Mapping[str, FactStatus]) -> list[Match]:
    """Matches as their facts stand now; what was deleted since has no status and is left out."""
    return [replace(match, status=statuses[match.fact_id]) for match in matches if match.fact_id in statuses]


def best(matches: Sequence[Match], *, unlike: Collection[str]) -> Match | None:
    """The fact that a claim repeats, if there is one: the nearest, and one that is out of date or withdrawn only where no other
    does.

    Args:
        unlike: Ids of facts that the claim is said to contradict; none of them is taken.
    """
    repeats = [match for match in matches if match.relation is Relation.SAME and match.fact_id not in unlike]
    order = {FactStatus.SUPERSEDED: 1, FactStatus.WITHDRAWN: 2}
    return min(repeats, key=lambda match: order.get(match.status, 0), default=None)


def decide_by_rules(claim_text: str, fact_text: str, *, is_same_text: bool) -> RelationVerdict:
    """How two statements stand to each other by the rules, which are made for statements and not for pages.

    What one text says side by side, such as what two options do, rules alone never set against each other.
    """
    if claim_text == fact_text:
        return RelationVerdict(Relation.SAME, "The words are the same.")
    if max(len(claim_text), len(fact_text)) > RULES_CHARS_MAX:
        return RelationVerdict(None, "Too long for rules.")
    verdict = relate(claim_text, fact_text)
    if is_same_text and verdict.relation is Relation.CONTRADICTS:
        return RelationVerdict(None, "One text says both.")
    return verdict


def is_related(claim_text: str, other_text: str) -> bool:
    """Whether rules see more in two statements than two different ones."""
    return decide_by_rules(claim_text, other_text, is_same_text=False).relation not in (None, Relation.NEW)


def _quoted_hash(claim: Claim) -> str | None:
    """The text in which the claim's quote stands."""
    return claim.place.snapshot_hash if claim.place else None


def _match(row: DictRow, verdict: RelationVerdict, decider: Decider) -> list[Match]:
    """One match, or none where nothing relates the two."""
    if verdict.relation in (None, Relation.NEW):
        return []
    status = FactStatus(row["status"])
    return [Match(row["id"], row["content"], status, Relation(verdict.relation), verdict.reason, decider)]
