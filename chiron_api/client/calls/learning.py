"""Learning: from a goal to a map, research that the map asks for, and what you know."""

from typing import Literal
from uuid import uuid4

from chiron_api.answers.learning import (
    CoverageMap,
    CurriculumReceipt,
    NodeProgress,
    ProgressList,
    Proposal,
    ProposalList,
    ProposalState,
    ResearchRound,
)
from chiron_api.client.call import Call, fields, get
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id

MapFormat = Literal["tree", "mermaid", "json"]


def order_curriculum(
    subject: str,
    goal: str,
    *,
    depth: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
    idempotency_key: str | None = None,
) -> Call[CurriculumReceipt]:
    """Have the coverage map of a learning goal drawn up; `subject` is any name. The same goal twice is one batch.

    Args:
        depth: How deeply: overview, practical, expert, or other words.
        again: Map the goal anew, though it was mapped before.
        idempotency_key: What is sent under it is one batch. Where the goal is mapped again, the call has one of its own.
    """
    body = fields(
        goal=goal, depth=depth, model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again
    )
    key = idempotency_key or (str(uuid4()) if again else None)
    headers = {"Idempotency-Key": key} if key else {}
    path = "/v1/subjects/{id}/curriculum"
    return Call(
        "POST", path, CurriculumReceipt, target=subject, body=body, headers=headers, is_repeatable=True
    )


def coverage_map(subject: str) -> Call[CoverageMap]:
    """The coverage map of a subject, nested, with how many facts belong to each node."""
    return get("/v1/subjects/{id}/map", CoverageMap, target=subject, query={"format": "json"})


def map_document(subject: str, *, format: MapFormat = "mermaid") -> Call[bytes]:
    """The same as a document of a format: a Mermaid flowchart, or a tree of lines."""
    return get("/v1/subjects/{id}/map", bytes, target=subject, query={"format": format})


def progress(subject: str) -> Call[list[NodeProgress]]:
    """What you know of each node of a subject, and what is due for review."""
    return get("/v1/subjects/{id}/progress", ProgressList, target=subject, part="items")


def proposals(subject: str, *, state: ProposalState | None = None) -> Call[list[Proposal]]:
    """What research has proposed for the map of a subject, newest first, with what was decided and why."""
    return get(
        "/v1/subjects/{id}/proposals", ProposalList, target=subject, query={"state": state}, part="items"
    )


def decide_proposal(proposal: Id | Proposal, *, accept: bool, reason: str) -> Call[Proposal]:
    """Accept a proposal, which changes the map at once, or reject it."""
    target = str(proposal.proposal_id if isinstance(proposal, Proposal) else proposal)
    body = {"accept": accept, "reason": reason}
    return Call("POST", "/v1/proposals/{id}/decide", Proposal, target=target, body=body)


def order_research(
    subject: str,
    *,
    facts_min: int | None = None,
    topics_max: int | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    again: bool = False,
) -> Call[ResearchRound]:
    """Begin the next round of research on a map; where none begins, `state` says why. No node has two open runs.

    Args:
        facts_min: Accepted facts that a node needs, from two origins.
        topics_max: Nodes that are researched at once.
        again: Try nodes again that gained nothing twice.
    """
    body = fields(facts_min=facts_min, topics_max=topics_max, model=model, budget_usd=budget_usd, again=again)
    path = "/v1/subjects/{id}/research"
    return Call("POST", path, ResearchRound, target=subject, body=body, is_repeatable=not again)
