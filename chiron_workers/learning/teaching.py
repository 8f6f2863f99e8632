"""What a learner is taught next: nodes that the goal needs, each after what it needs, as far as facts allow."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from chiron_workers.knowledge.coverage.assessments import MASTERY_MIN, Assessments
from chiron_workers.knowledge.coverage.nodes import Nodes, flatten
from chiron_workers.knowledge.drafts.citable_facts import digest_nodes
from chiron_workers.learning.needs import order_nodes
from chiron_workers.runs.session import Session


@dataclass(frozen=True, slots=True)
class WayNode:
    """A node on the way to the goal, with the learner's mastery of it: a probability, 0 where nothing was answered."""

    node_id: str
    title: str
    mastery: float
    is_mastered: bool


async def load_way(session: Session, subject_id: str) -> list[WayNode]:
    """The nodes that the goal needs, in the order in which they are taught; the learner is the session's owner."""
    tops, _ = await Nodes(session).tree(subject_id)
    branches = {branch["node_id"]: branch for branch in flatten(tops)}
    order, needed_ids = order_nodes(branches)
    way = [branches[node_id] for node_id in order if node_id in needed_ids]
    masteries = await Assessments(session).masteries([branch["node_id"] for branch in way])
    nodes = [(branch, masteries.get(branch["node_id"], 0.0)) for branch in way]
    return [
        WayNode(branch["node_id"], branch["title"], mastery, mastery >= MASTERY_MIN)
        for branch, mastery in nodes
    ]


async def teachable_nodes(session: Session, subject_id: str, nodes: Sequence[WayNode]) -> list[WayNode]:
    """Those of the nodes that have facts to be taught from, in their order."""
    digests = await digest_nodes(session, subject_id, [node.node_id for node in nodes])
    return [node for node in nodes if node.node_id in digests]


async def next_node(session: Session, subject_id: str, *, except_ids: Collection[UUID] = ()) -> UUID | None:
    """The first node that is not mastered and can be taught, but for some; None where there is none."""
    way = await load_way(session, subject_id)
    open_nodes = [node for node in way if not node.is_mastered and UUID(node.node_id) not in except_ids]
    nodes = await teachable_nodes(session, subject_id, open_nodes)
    return UUID(nodes[0].node_id) if nodes else None
