from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.knowledge.coverage.nodes import (
    DEPTH_MAX,
    NODES_MAX,
    Branch,
    Child,
    Node,
    SavedNode,
    draft,
)
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

CURRICULUM = "curriculum"  # the role of runs that change maps; others propose
DISCOVERY = "Run {run} came upon it."
Depth = Annotated[int, Field(ge=0, le=DEPTH_MAX)]


class NodeWithChildren(Node):
    """A node and what is directly below it."""

    children: list[Child]


class Tree(TypedDict, total=False):
    """The coverage map of a subject; `note` only where it is cut."""

    subject_id: str
    title: str
    purpose_statement: str | None
    nodes: list[Branch]
    note: str


@tool
async def get_knowledge_node(store: Store, *, node_id: str) -> NodeWithChildren:
    """Read one node of the coverage map: description, prerequisites (ids) and the nodes directly below it.

    Args:
        node_id: The node's id, as get_knowledge_tree gives it.
    """
    node = await store.nodes.get(node_id)
    return NodeWithChildren(**node, children=await store.nodes.children(node))


@tool
async def get_knowledge_tree(store: Store, *, subject_id: str) -> Tree:
    """Read the coverage map of a subject: its nodes and those that other subjects share with it, nested.

    Args:
        subject_id: The subject, by its id or its name.

    Returns:
        nodes, each with node_id, title, description, depth, is_goal_critical, prerequisites (ids of the nodes
        to know first) and children.
    """
    subject = await store.subjects.get(subject_id)
    nodes, is_cut = await store.nodes.tree(subject["subject_id"])
    tree = Tree(
        subject_id=subject["subject_id"],
        title=subject["title"],
        purpose_statement=subject["purpose_statement"],
        nodes=nodes,
    )
    if is_cut:
        tree["note"] = f"Cut after {NODES_MAX:,} nodes; get_knowledge_node shows what is below any of them."
    return tree


@tool
async def save_knowledge_node(  # noqa: PLR0913  # a node has that many sides
    store: Store,
    *,
    subject_id: str,
    title: str,
    description: str,
    parent_id: str | None = None,
    depth: Depth = 0,
    is_goal_critical: bool = False,
    prerequisites: list[str] | None = None,
    shared_with_subjects: list[str] | None = None,
) -> SavedNode:
    """Add a node to the coverage map, or update the node of the same title below the same parent.

    Save parents and prerequisites before the nodes that name them. Where the subject has a curriculum, the node of a research
    run is a proposal: it joins the map once somebody accepts it.

    Args:
        subject_id: The subject whose map it is.
        title: What the node is called, short.
        description: What somebody who knows this node can say or do.
        parent_id: The node it belongs below. Leave it out for a node at the top.
        depth: Levels below the top. With a parent you can leave it out: one more than the parent's.
        is_goal_critical: Whether the learning goal cannot be reached without it.
        prerequisites: Ids of the nodes to know first. Left out, an existing node keeps its own.
        shared_with_subjects: Other subjects whose maps show the node too, for a person to say: a run shares
            nothing. Left out, an existing node keeps its own.

    Returns:
        status (saved, updated, known or proposed), node_id (or proposal_id, if proposed), subject_id, title, depth.
    """
    node = draft(
        subject_id=subject_id,
        title=title,
        description=description,
        parent_id=parent_id,
        depth=depth,
        is_goal_critical=is_goal_critical,
        prerequisites=prerequisites,
        shared_with_subjects=shared_with_subjects,
    )
    if store.caller.run_id is None or store.caller.role == CURRICULUM:
        return await store.nodes.save(node)
    return await store.proposals.propose_node(node, reason=DISCOVERY.format(run=store.caller.run_id))
