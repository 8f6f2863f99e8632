"""Which stored facts a claim repeats, supports, contradicts or qualifies.

This module only asks and collects. Vector search picks the candidates among the neighbours of a claim, the rules of
`evidence.statements.relation.relate` decide on each, and where they reach no verdict a model does, in `judgements`.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.rows import DictRow
from psycopg.sql import Identifier

from chiron_workers.db.queries import load
from chiron_workers.evidence.statements.relation import (
    RelationVerdict,
    relate,
    speak_of_different_times,
)
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.judgements import Judgements
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import to_halfvec
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import Decider, FactStatus, Relation

SQL = load(__file__)

NEIGHBOURS_MAX = 12
# Vector search only picks candidates, since vectors cannot tell a contradiction from a paraphrase.
NEIGHBOUR_COSINE_MIN = 0.5
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
class Candidates:
    """The matches of a claim before the subject is locked.

    `fact_ids` are all that it was compared with until `at`; whatever was stored since is compared under the lock.
    """

    matches: tuple[Match, ...]
    at: datetime
    fact_ids: frozenset[str]


class Matching:
    """Compares claims with the facts stored of their subject."""

    def __init__(self, session: Session, search: Search, side_model: SideModel | None) -> None:
        self._session = session
        self._search = search
        self._judgements = Judgements(session, side_model)

    async def candidates(self, claim: Claim, embedding: Sequence[float], table: Identifier) -> Candidates:
        """Compare a claim with the facts nearest to it; may ask the model, so never in a transaction."""
        [now] = await self._session.rows(SQL["now"])
        rows = await self._nearest(claim, embedding, table)
        matches = await self._verdicts(claim, rows)
        return Candidates(tuple(matches), now["at"], frozenset(row["id"] for row in rows))

    async def recheck(
        self, candidates: Candidates, claim: Claim, embedding: Sequence[float], table: Identifier
    ) -> list[Match]:
        """The matches of a claim now that the subject is locked.

        What was stored since is compared by rules alone, and what was deleted since is left out.
        """
        statuses = await self._statuses([match.fact_id for match in candidates.matches])
        matches = [
            replace(match, status=statuses[match.fact_id])
            for match in candidates.matches
            if match.fact_id in statuses
        ]
        newest = await self._neighbours("newest", claim, embedding, table, since=candidates.at)
        rows = [row for row in newest if row["id"] not in candidates.fact_ids]
        neighbours_in_text = await self._in_same_text(claim, rows)
        for row in rows:
            verdict = _decide_by_rules(
                claim.content, row["content"], is_same_text=row["id"] in neighbours_in_text
            )
            matches += _match(row, verdict, Decider.RULES)
        return matches

    async def _nearest(self, claim: Claim, embedding: Sequence[float], table: Identifier) -> list[DictRow]:
        # Withdrawn facts too: to say again what was withdrawn does not bring it back.
        neighbours = await self._search.nearest(embedding, claim.subject_id, limit=NEIGHBOURS_MAX)
        rows = [row for row in neighbours if row["cosine"] >= NEIGHBOUR_COSINE_MIN]
        rows += await self._neighbours("withdrawn", claim, embedding, table)
        return sorted(rows, key=lambda row: -row["cosine"])

    async def _verdicts(self, claim: Claim, rows: Sequence[DictRow]) -> list[Match]:
        contents = {row["id"]: row["content"] for row in rows}
        neighbours_in_text = await self._in_same_text(claim, rows)
        # Dozens of milliseconds for long statements, which other runs on the loop need not wait for.
        verdicts = await asyncio.to_thread(
            lambda: {
                fact_id: _decide_by_rules(claim.content, content, is_same_text=fact_id in neighbours_in_text)
                for fact_id, content in contents.items()
            }
        )
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

    async def _in_same_text(self, claim: Claim, rows: Sequence[DictRow]) -> set[str]:
        """The facts that the text in which the claim's quote stands bears out, too."""
        if claim.place is None or not rows:
            return set()
        args = {"fact_ids": [row["id"] for row in rows], "snapshot_hash": claim.place.snapshot_hash}
        return {row["id"] for row in await self._session.rows(SQL["in_same_text"], args)}

    async def _statuses(self, fact_ids: Sequence[str]) -> dict[str, FactStatus]:
        rows = await self._session.rows(SQL["statuses"], {"fact_ids": list(fact_ids)}) if fact_ids else []
        return {row["id"]: FactStatus(row["status"]) for row in rows}

    async def _neighbours(
        self,
        query: str,
        claim: Claim,
        embedding: Sequence[float],
        table: Identifier,
        since: datetime | None = None,
    ) -> list[DictRow]:
        args = {
            "subject_id": claim.subject_id,
            "embedding": to_halfvec(embedding),
            "limit": NEIGHBOURS_MAX,
            "cosine_min": NEIGHBOUR_COSINE_MIN,
            "since": since,
        }
        return await self._session.rows(SQL[query].format(table=table), args)


def best(matches: Sequence[Match], *, unlike: Collection[str]) -> Match | None:
    """The fact that a claim repeats, if there is one: the nearest, and one that is out of date or withdrawn only where no other
    does.

    Args:
        unlike: Ids of facts that the claim is said to contradict; none of them is taken.
    """
    repeats = [match for match in matches if match.relation is Relation.SAME and match.fact_id not in unlike]
    order = {FactStatus.SUPERSEDED: 1, FactStatus.WITHDRAWN: 2}
    return min(repeats, key=lambda match: order.get(match.status, 0), default=None)


def _decide_by_rules(claim_text: str, fact_text: str, *, is_same_text: bool) -> RelationVerdict:
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


def _match(row: DictRow, verdict: RelationVerdict, decider: Decider) -> list[Match]:
    """One match, or none where nothing relates the two."""
    if verdict.relation in (None, Relation.NEW):
        return []
    status = FactStatus(row["status"])
    return [Match(row["id"], row["content"], status, Relation(verdict.relation), verdict.reason, decider)]
