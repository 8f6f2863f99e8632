"""Research that the map asks for, in rounds: each is a batch with a run for every node that has too few facts.

A round claims its nodes before its batch is submitted, under a key that the claims hold: whoever is killed between the two
leaves claims that the next round submits under the same key, so no node has two open runs and no batch is there twice.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NAME_CHARS_MAX, NewBatch, NewRun, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.learning.needs import FACTS_MIN, NodeNeed, check_facts_min, load_exhausted, load_needs
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import BatchKind

SQL = load(__file__)
ROLE = "research"
TOPICS_MAX = 20  # of one round


class RoundState(StrEnum):
    """How research on a map stands.

    submitted: a round begins. running: one is under way. covered: what the goal needs has its facts. exhausted: what is
    missing gained nothing twice. unmapped: there is no node that the goal needs.
    """

    SUBMITTED = "submitted"
    RUNNING = "running"
    COVERED = "covered"
    EXHAUSTED = "exhausted"
    UNMAPPED = "unmapped"


@dataclass(frozen=True, slots=True)
class RoundOptions:
    """How many facts a node needs, how many nodes a round researches, with which model, and what the round may cost.

    `revives` where nodes that were exhausted are tried again.
    """

    facts_min: int = FACTS_MIN
    topics_max: int = TOPICS_MAX
    model: str | None = None
    budget_usd: Decimal | None = None
    revives: bool = False


@dataclass(frozen=True, slots=True)
class ResearchRound:
    """What became of it: the batches that it submitted, with the titles they research, and what is missing or exhausted.

    `open_batches` are all that research nodes of the subject now, whoever began them.
    """

    subject_id: str
    state: RoundState
    batches: tuple[Submitted, ...]
    topics: tuple[str, ...]
    gaps: tuple[str, ...]
    exhausted: tuple[str, ...]
    open_batches: tuple[UUID, ...] = ()


async def research_round(
    pool: Pool, subject_id: str, options: RoundOptions, *, principal: Principal = LOCAL
) -> ResearchRound:
    """Submit the next round of research on a subject's map; notify the workers of its batches afterwards.

    Raises:
        UsageError: An option cannot be used.
        KeyBudgetSpent: The budget of the principal's key has no room for it.
    """
    check_facts_min(options.facts_min)
    if options.revives:
        async with Session(pool) as session:
            await revive(session, subject_id)
    # What is over is read before the facts, so that none of a run's is overlooked, and both before the lock.
    over = await Session(pool).rows(SQL["over"], {"subject_id": subject_id})
    needs = await load_needs(Session(pool), subject_id)
    async with Session(pool) as session:
        await Nodes(session).lock(subject_id)
        needs = await _settle(session, subject_id, over, needs)
        claims = await session.rows(SQL["open"], {"subject_id": subject_id})
        open_ids = {row["node_id"] for row in claims}
        gaps = [need for need in needs if need.is_on_the_way and not need.is_covered(options.facts_min)]
        open_needs = _researchable(needs, gaps, open_ids, options)
        if open_needs:
            await _claim(session, subject_id, open_needs, options, principal)
    batches = await _submit_claims(pool, subject_id, principal)
    open_rows = await Session(pool).rows(SQL["open_batches"], {"subject_id": subject_id})
    return ResearchRound(
        subject_id=subject_id,
        state=_state(needs, gaps, is_submitted=bool(batches), is_running=bool(open_ids)),
        batches=tuple(batches),
        topics=tuple(need.node["title"] for need in open_needs),
        gaps=tuple(need.node["title"] for need in gaps),
        exhausted=tuple(need.node["title"] for need in needs if need.is_exhausted),
        open_batches=tuple(row["batch_id"] for row in open_rows),
    )


async def revive(session: Session, subject_id: str) -> None:
    """Have nodes researched again that gained nothing twice."""
    await session.write(SQL["revive"], {"subject_id": subject_id})


async def _settle(
    session: Session, subject_id: str, over: Sequence[DictRow], needs: Sequence[NodeNeed]
) -> list[NodeNeed]:
    """Write down what ended researches have gained; the needs with the nodes that have gained nothing twice now."""
    await session.write(SQL["drop_orphans"], {"subject_id": subject_id})
    facts = {need.node["node_id"]: need.facts for need in needs}
    for row in over:
        count = None if row["is_cancelled"] else facts.get(row["node_id"], 0)
        await session.write(SQL["settle"], {"id": row["id"], "facts": count})
    if over:
        await session.write(SQL["exhaust"], {"node_ids": [UUID(row["node_id"]) for row in over]})
    exhausted_ids = await load_exhausted(session, list(facts))
    return [replace(need, is_exhausted=need.node["node_id"] in exhausted_ids) for need in needs]


def _researchable(
    needs: Sequence[NodeNeed], gaps: Sequence[NodeNeed], open_ids: set[str], options: RoundOptions
) -> list[NodeNeed]:
    """The nodes of the next round; none once what the goal needs has its facts or is exhausted."""
    if all(need.is_exhausted for need in gaps):
        return []
    candidates = [need for need in needs if not need.is_exhausted and need.node["node_id"] not in open_ids]
    room = max(options.topics_max - len(open_ids), 0)
    return [need for need in candidates if not need.is_covered(options.facts_min)][:room]


async def _claim(
    session: Session,
    subject_id: str,
    needs: Sequence[NodeNeed],
    options: RoundOptions,
    principal: Principal,
) -> None:
    claim_ids = [ids.new_id() for _ in needs]
    request = {
        "model": options.model or settings().model,
        "max_turns": settings().max_turns,
        "budget_usd": None if options.budget_usd is None else str(options.budget_usd),
    }
    for claim_id, need in zip(claim_ids, needs, strict=True):
        args = {
            "id": claim_id,
            "subject_id": subject_id,
            "node_id": await Nodes(session).hold(UUID(need.node["node_id"])),
            "owner": principal.owner,
            "round_key": f"research {claim_ids[0]}",
            "request": json.dumps({**request, "topic": need.node["title"]}),
            "facts_before": need.facts,
            "claim_for": _claim_for(),
        }
        await session.write(SQL["claim"], args)


async def _submit_claims(pool: Pool, subject_id: str, principal: Principal) -> list[Submitted]:
    """Submit the rounds of this owner whose nodes are claimed and have no run yet."""
    rows = await Session(pool).rows(SQL["open"], {"subject_id": subject_id})
    rounds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["run_id"] is None and row["owner"] == principal.owner:
            rounds.setdefault(row["round_key"], []).append(row)
    batches = []
    for round_key, claims in rounds.items():
        async with Session(pool) as session:
            held = await session.write(SQL["renew"], {"round_key": round_key, "claim_for": _claim_for()})
        if held:  # else another process has its nodes by now
            batches.append(await _submit_round(pool, subject_id, round_key, claims, principal))
    return batches


def _claim_for() -> timedelta:
    """How long a claim lasts whose process is killed: as long as a run's lease."""
    return timedelta(seconds=settings().lease_s)


async def _submit_round(
    pool: Pool, subject_id: str, round_key: str, claims: Sequence[dict[str, Any]], principal: Principal
) -> Submitted:
    """Raises ChironError where the batch is refused; nothing is claimed then."""
    try:
        batch = await submit(pool, _batch(subject_id, round_key, claims), principal=principal)
    except ChironError:
        async with Session(pool) as session:
            await session.write(SQL["release"], {"round_key": round_key})
        raise
    node_ids = [UUID(claim["node_id"]) for claim in claims]
    async with Session(pool) as session:
        args = {"round_key": round_key, "node_ids": node_ids, "run_ids": batch.run_ids}
        rows = await session.write(SQL["name_runs"], args)
        # Another process of the owner, whose batch was refused, may have released the claims.
        named_ids = {row["node_id"] for row in rows}
        for claim in claims:
            if claim["node_id"] not in named_ids:
                await session.write(
                    SQL["claim"], claim | {"request": json.dumps(claim["request"]), "claim_for": _claim_for()}
                )
        if len(rows) < len(claims):
            await session.write(SQL["name_runs"], args)
    return batch


def _batch(subject_id: str, round_key: str, claims: Sequence[dict[str, Any]]) -> NewBatch:
    request = claims[0]["request"]
    runs = [
        NewRun(
            topic=claim["request"]["topic"],
            role=ROLE,
            subject=subject_id,
            model=request["model"],
            max_turns=request["max_turns"],
        )
        for claim in claims
    ]
    budget_usd = request["budget_usd"]
    budget = Budget(None if budget_usd is None else Decimal(budget_usd))
    name = f"Research: {subject_id}"[:NAME_CHARS_MAX]
    return NewBatch(runs, subject_id, name, budget=budget, idempotency_key=round_key, kind=BatchKind.LEARNING)


def _state(
    needs: Sequence[NodeNeed], gaps: Sequence[NodeNeed], *, is_submitted: bool, is_running: bool
) -> RoundState:
    if is_submitted:
        return RoundState.SUBMITTED
    if is_running:
        return RoundState.RUNNING
    if not any(need.is_on_the_way for need in needs):
        return RoundState.UNMAPPED
    return RoundState.EXHAUSTED if gaps else RoundState.COVERED
