"""The nodes of a map as a learner is taught them, and what that learner can do next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from chiron_workers.knowledge.assessment.learner_progress import NodeProgress
from chiron_workers.knowledge.coverage.nodes import Branch, flatten
from chiron_workers.knowledge.lessons.reading import LessonLine
from chiron_workers.learning.needs import NodeNeed

MASTERY_LEVELS = (0.5, 0.75)  # what a circle in the picture of the map shows a step of


class StepKind(StrEnum):
    """What a learner can do next."""

    MAP = "map"
    REVIEW = "review"
    READ = "read"
    REWRITE = "rewrite"
    ORDER = "order"
    RESEARCH = "research"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class TaughtNode:
    """A node with what its learner knows of it and the newest lesson on it.

    `facts` are its own and those of all below it; of itself and all below, which are `nodes`, `nodes_mastered` are known.
    """

    branch: Branch
    facts: int
    nodes: int
    nodes_mastered: int
    progress: NodeProgress
    is_exhausted: bool
    is_on_the_way: bool
    lesson: LessonLine | None

    @property
    def id(self) -> str:
        """Its id."""
        return self.branch["node_id"]

    @property
    def title(self) -> str:
        """Its title."""
        return self.branch["title"]

    @property
    def level(self) -> int:
        """How well it is known, from 0 where nothing was answered to 4 where it is mastered."""
        if not self.progress.attempts:
            return 0
        return 4 if self.progress.mastered else 1 + sum(self.progress.mastery >= at for at in MASTERY_LEVELS)

    @property
    def share(self) -> int:
        """How much of it and of all below it is known, from 0 for nothing to 4 for everything."""
        return 4 * self.nodes_mastered // self.nodes or min(self.nodes_mastered, 1)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a learner can do next, and the node that it is about."""

    kind: StepKind
    node: TaughtNode | None = None


def taught_nodes(
    tops: Sequence[Branch],
    needs: Sequence[NodeNeed],
    facts: Mapping[str, int],
    progress: Mapping[str, NodeProgress],
    lessons: Mapping[str, LessonLine],
) -> dict[str, TaughtNode]:
    """All nodes in the order in which they are taught; those of other subjects come last."""
    branches = {branch["node_id"]: branch for branch in flatten(tops)}
    needs_by_id = {need.node["node_id"]: need for need in needs}
    counts: dict[str, tuple[int, int]] = {}
    _count_mastered(tops, progress, counts)
    nodes = {}
    for node_id in dict.fromkeys(chain(needs_by_id, branches)):
        need = needs_by_id.get(node_id)
        if node_id in branches and node_id in progress:
            nodes[node_id] = TaughtNode(
                branches[node_id],
                facts[node_id],
                *counts[node_id],
                progress[node_id],
                is_exhausted=need is not None and need.is_exhausted,
                is_on_the_way=need is not None and need.is_on_the_way,
                lesson=lessons.get(node_id),
            )
    return nodes


def _count_mastered(
    tops: Sequence[Branch], progress: Mapping[str, NodeProgress], counts: dict[str, tuple[int, int]]
) -> None:
    """Note for each node how many it and all below it are, and how many of them are mastered."""
    for branch in reversed(list(flatten(tops))):  # what is below a node comes after it
        item = progress.get(branch["node_id"])
        below = [counts[child["node_id"]] for child in branch["children"]]
        nodes = 1 + sum(count for count, _ in below)
        mastered = (item is not None and item.mastered) + sum(count for _, count in below)
        counts[branch["node_id"]] = nodes, mastered


def first_open(nodes: Mapping[str, TaughtNode]) -> TaughtNode | None:
    """The first node that can be taught and is not known yet; where there is a goal, of those that it needs."""
    way = [node for node in nodes.values() if node.is_on_the_way] or nodes.values()
    return next((node for node in way if node.facts and not node.progress.mastered), None)


def next_step(
    nodes: Mapping[str, TaughtNode],
    candidate: TaughtNode | None,
    stale_ids: frozenset[object],
    gaps: Sequence[NodeNeed],
) -> NextStep:
    """What a learner can do next; `candidate` is the first node that can be taught."""
    if not nodes:
        return NextStep(StepKind.MAP)
    if any(node.progress.due for node in nodes.values()):
        return NextStep(StepKind.REVIEW)
    if candidate is None:
        return NextStep(StepKind.RESEARCH if gaps else StepKind.DONE)
    if candidate.lesson is None:
        return NextStep(StepKind.ORDER, candidate)
    return NextStep(StepKind.REWRITE if candidate.lesson.id in stale_ids else StepKind.READ, candidate)
