"""What a learner is taught next: nodes that the goal needs, each after what it needs, as far as facts allow."""

from dataclasses import dataclass
from uuid import UUID

from chiron_workers.knowledge.coverage.assessments import MASTERY_MIN, Assessments
from chiron_workers.knowledge.coverage.nodes import Branch, Nodes, flatten
from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK, CitableFacts, Scope
from chiron_workers.learning.needs import order_nodes
from chiron_workers.runs.session import Session


@dataclass(frozen=True, slots=True)
class TaughtNode:
    """A node on the way to the goal, with the learner's mastery of it: a probability, 0 where nothing was answered."""

    node: Branch
    mastery: float

    @property
    def is_mastered(self) -> bool:
        """Whether the learner knows it."""
        return self.mastery >= MASTERY_MIN


async def load_way(session: Session, subject_id: str) -> list[TaughtNode]:
    """The nodes that the goal needs, in the order in which they are taught; the learner is the session's owner."""
    tops, _ = await Nodes(session).tree(subject_id)
    branches = {branch["node_id"]: branch for branch in flatten(tops)}
    order, way = order_nodes(branches)
    masteries = await Assessments(session).masteries([node_id for node_id in order if node_id in way])
    return [TaughtNode(branches[node_id], masteries.get(node_id, 0.0)) for node_id in order if node_id in way]


async def has_facts(session: Session, subject_id: str, node_id: str) -> bool:
    """Whether a node has facts that it can be taught from."""
    scope = Scope.of(f"{NODE_MARK}{node_id}", subject_id=subject_id)
    return await CitableFacts(session, scope).digest() is not None


async def next_node(session: Session, subject_id: str) -> UUID | None:
    """The first node that is not mastered and can be taught; None where there is none."""
    for taught in await load_way(session, subject_id):
        node_id = taught.node["node_id"]
        if not taught.is_mastered and await has_facts(session, subject_id, node_id):
            return UUID(node_id)
    return None
