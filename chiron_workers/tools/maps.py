from typing import Annotated, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from chiron_workers.db.validation import parse_id
from chiron_workers.knowledge.coverage.curricula import Entry, SavedCurriculum
from chiron_workers.knowledge.coverage.nodes import (
    DESCRIPTION_CHARS_MAX,
    PREREQUISITES_MAX,
    TITLE_CHARS_MAX,
)
from chiron_workers.knowledge.coverage.proposals import REASON_CHARS_MAX, Change, Proposal
from chiron_workers.states import ProposalKind, ProposalState
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

ENTRIES_MAX = 300
Title = Annotated[str, Field(min_length=1, max_length=TITLE_CHARS_MAX)]
Reason = Annotated[str, Field(min_length=1, max_length=REASON_CHARS_MAX)]


class CurriculumNode(BaseModel):
    """One node of a curriculum; parent and prerequisites are titles of other nodes, of this call or of the map."""

    model_config = ConfigDict(extra="forbid")

    title: Title
    description: Annotated[str, Field(max_length=DESCRIPTION_CHARS_MAX)] = ""
    parent: str = ""
    prerequisites: Annotated[list[Title], Field(max_length=PREREQUISITES_MAX)] = []
    is_goal_critical: bool = False
    shared_node_id: str = ""


class ListedProposal(TypedDict, total=False):
    """A proposal for a coverage map as a list has it."""

    proposal_id: str
    kind: str
    node_id: str | None
    title: str
    other_node_id: str | None
    other_title: str | None
    reason: str
    state: str
    decision_reason: str


class ProposalList(TypedDict):
    """Proposals, newest first."""

    proposals: list[ListedProposal]


@tool(roles=("curriculum",))
async def save_curriculum(
    store: Store,
    *,
    subject_id: str,
    nodes: Annotated[list[CurriculumNode], Field(min_length=1, max_length=ENTRIES_MAX)],
) -> SavedCurriculum:
    """Save the coverage map that leads to the learning goal, all nodes at once; nothing is saved if one is refused.

    A node whose title stands in the map already is that node: it keeps its place, and gets the description and further
    prerequisites. Every node must hang together, as parent, child or prerequisite, with one that is goal-critical, and
    prerequisites never run in a circle.

    Args:
        subject_id: The subject whose map it is.
        nodes: Each with title; description: what somebody who knows it can say or do; parent: the title of the node it belongs
            below, none for the top; prerequisites: titles of what must be known first; is_goal_critical: whether the goal
            cannot be reached without it; shared_node_id: the id of a node of another subject, with its title, that this map
            shows as well instead of a node of its own.

    Returns:
        subject_id, additions and updates (how many nodes are new, or were there), nodes and goal_critical (how many the map has).
    """
    entries = [
        Entry(
            title=node.title,
            description=node.description or node.title,
            parent=node.parent,
            prerequisites=tuple(node.prerequisites),
            is_goal_critical=node.is_goal_critical,
            shared_node_id=node.shared_node_id,
        )
        for node in nodes
    ]
    return await store.curricula.save(subject_id, entries)


@tool
async def propose_change(
    store: Store,
    *,
    kind: Literal["prerequisite", "merge", "remove"],
    node_id: str,
    reason: Reason,
    other_node_id: str | None = None,
) -> ListedProposal:
    """Propose a change of the coverage map, where what you read shows that it is wrong. Somebody else decides.

    A new node is proposed with save_knowledge_node.

    Args:
        kind: prerequisite (node_id needs other_node_id first), merge (node_id is the same as other_node_id), or remove.
        node_id: The node that it is about.
        reason: Why, with what you read.
        other_node_id: The prerequisite, or the node to merge it into.

    Returns:
        The proposal, with proposal_id and state. The same proposal twice is one.
    """
    change = Change(
        ProposalKind(kind),
        parse_id(node_id, field="node_id"),
        parse_id(other_node_id, field="other_node_id") if other_node_id else None,
    )
    return _listed(await store.proposals.propose(change, reason=reason))


@tool
async def list_proposals(
    store: Store, *, subject_id: str, state: ProposalState | None = ProposalState.OPEN
) -> ProposalList:
    """List what was proposed for the coverage map of a subject, newest first.

    Args:
        subject_id: The subject, by its id or its name.
        state: open, accepted or rejected; null for all.

    Returns:
        proposals: each with proposal_id, kind, node_id and title, other_node_id and other_title, reason, state and
        decision_reason.
    """
    subject = await store.subjects.get(subject_id)
    proposals = await store.proposals.of(subject["subject_id"], state=state)
    return ProposalList(proposals=[_listed(proposal) for proposal in proposals])


@tool(roles=("curriculum",))
async def decide_proposal(store: Store, *, proposal_id: str, accept: bool, reason: Reason) -> ListedProposal:
    """Accept a proposal, which changes the map at once, or reject it. Facts and answers of a removed node stay.

    Args:
        proposal_id: The proposal, as list_proposals gives it.
        accept: Whether the map is changed.
        reason: Why; whoever proposed it reads that.

    Returns:
        The proposal as it is decided.
    """
    return _listed(await store.proposals.decide(proposal_id, accept=accept, reason=reason))


def _listed(proposal: Proposal) -> ListedProposal:
    return ListedProposal(
        proposal_id=proposal["proposal_id"],
        kind=proposal["kind"],
        node_id=proposal["node_id"],
        title=proposal["title"],
        other_node_id=proposal["other_node_id"],
        other_title=proposal["other_title"],
        reason=proposal["reason"],
        state=proposal["state"],
        decision_reason=proposal["decision_reason"],
    )
