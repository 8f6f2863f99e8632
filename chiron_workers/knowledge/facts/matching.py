import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.rows import DictRow
from psycopg.sql import Identifier

from chiron_workers.db.queries import load
from chiron_workers.evidence.statements.relation import Verdict, relate
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.judgements import Judgements
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import to_halfvec
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.states import Decider, FactStatus, Relation

SQL = load(__file__)

NEIGHBOURS_MAX = 12
NEAR = (
    0.6  # cosine similarity; vectors only nominate, since they cannot tell a contradiction from a paraphrase
)
ASKED_FROM = 0.75
RULES_CHARS_MAX = 1_000
ASKED_MAX = 2  # questions to the model for one claim


@dataclass(frozen=True, slots=True)
class Match:
    """How a claim stands to a fact that is known, and who decided that by what."""

    fact_id: str
    content: str
    status: FactStatus
    relation: Relation
    reason: str
    decided_by: Decider


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a claim was held against, and when: whatever was stored since is compared under the subject's lock."""

    found: tuple[Match, ...]
    at: datetime
    seen: frozenset[str]


class Matching:
    """Holds a claim against what is known: vectors nominate the neighbours, rules decide, and a model in doubt."""

    def __init__(self, session: Session, search: Search, side_model: SideModel | None) -> None:
        self._session = session
        self._search = search
        self._judgements = Judgements(session, side_model)

    async def candidates(self, claim: Claim, embedding: Sequence[float], table: Identifier) -> Candidates:
        """Compare a claim with the facts nearest to it; may ask the model, so never in a transaction."""
        now = await self._session.row(SQL["now"])
        assert now is not None
        rows = await self._nearest(claim, embedding, table)
        known = {row["id"]: row["content"] for row in rows}
        # Dozens of milliseconds for long statements, which other runs on the loop need not wait for.
        verdicts = await asyncio.to_thread(
            lambda: {fact_id: _relation(claim.content, content) for fact_id, content in known.items()}
        )
        asked = 0
        for row in rows:
            if any(verdict.relation is Relation.SAME for verdict in verdicts.values()):
                break
            if verdicts[row["id"]].relation is None and row["cosine"] >= ASKED_FROM and asked < ASKED_MAX:
                asked += 1
                answer = await self._judgements.decide(claim.content, row["content"])
                if answer.relation is not None:
                    verdicts[row["id"]] = answer
                    row["decided_by"] = Decider.MODEL
        found = (_comparison(row, verdicts[row["id"]]) for row in rows)
        return Candidates(
            tuple(one for one in found if one is not None), now["at"], frozenset(row["id"] for row in rows)
        )

    async def recheck(
        self, compared: Candidates, claim: Claim, embedding: Sequence[float], table: Identifier
    ) -> list[Match]:
        """How a claim stands to what is known now that nobody else writes: what was stored since is compared by rules
        alone, and what was deleted since is left out."""
        statuses = await self._statuses([one.fact_id for one in compared.found])
        found = [
            replace(one, status=statuses[one.fact_id]) for one in compared.found if one.fact_id in statuses
        ]
        rows = await self._neighbours("newest", claim, embedding, table, since=compared.at)
        newer = (
            _comparison(row, _relation(claim.content, row["content"]))
            for row in rows
            if row["id"] not in compared.seen
        )
        return found + [one for one in newer if one is not None]

    async def _nearest(self, claim: Claim, embedding: Sequence[float], table: Identifier) -> list[DictRow]:
        """The facts nearest to a claim, and the withdrawn ones: to say again what was withdrawn does not bring it back."""
        near = await self._search.nearest(embedding, claim.subject_id, limit=NEIGHBOURS_MAX)
        rows: list[DictRow] = [{**one} for one in near if one["cosine"] >= NEAR]
        rows += await self._neighbours("withdrawn", claim, embedding, table)
        return sorted(rows, key=lambda row: -row["cosine"])

    async def _statuses(self, fact_ids: Sequence[str]) -> dict[str, FactStatus]:
        rows = await self._session.rows(SQL["statuses"], {"fact_ids": list(fact_ids)}) if fact_ids else []
        return {row["id"]: FactStatus(row["status"]) for row in rows}

    async def _neighbours(
        self,
        name: str,
        claim: Claim,
        embedding: Sequence[float],
        table: Identifier,
        since: datetime | None = None,
    ) -> list[DictRow]:
        args = {
            "subject_id": claim.subject_id,
            "embedding": to_halfvec(embedding),
            "limit": NEIGHBOURS_MAX,
            "near": NEAR,
            "since": since,
        }
        return await self._session.rows(SQL[name].format(table=table), args)


def best(found: Sequence[Match], *, unlike: Collection[str]) -> Match | None:
    """The fact that a claim says again, if there is one: the nearest, one that stands before one that was withdrawn,
    and none that it is said to contradict."""
    same = [one for one in found if one.relation is Relation.SAME and one.fact_id not in unlike]
    standing = [one for one in same if one.status is not FactStatus.WITHDRAWN]
    return next(iter([*standing, *same]), None)


def _relation(new: str, known: str) -> Verdict:
    """How two statements stand to each other by the rules, which are made for statements and not for pages."""
    if new == known:
        return Verdict(Relation.SAME, "The words are the same.")
    if max(len(new), len(known)) > RULES_CHARS_MAX:
        return Verdict(None, "Too long for rules.")
    return relate(new, known)


def _comparison(row: DictRow, verdict: Verdict) -> Match | None:
    if verdict.relation in (None, Relation.NEW):
        return None
    return Match(
        row["id"],
        row["content"],
        FactStatus(row["status"]),
        Relation(verdict.relation),
        verdict.reason,
        row.get("decided_by", Decider.RULES),
    )
