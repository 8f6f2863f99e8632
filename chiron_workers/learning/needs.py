"""What a coverage map still needs: which nodes have too few facts, and which of them come first."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.errors import UsageError
from chiron_workers.evidence.origins import address_origin
from chiron_workers.knowledge.coverage.nodes import Branch, Nodes, flatten
from chiron_workers.knowledge.coverage.topic_titles import NodeTitles, load_titles
from chiron_workers.runs.session import Session

SQL = load(__file__)
FACTS_MIN = 3  # accepted ones that a node needs
FACTS_MAX = 1_000  # that somebody may ask for
ORIGINS_MIN = 2  # independent ones that they come from


def check_facts_min(facts: int) -> None:
    """Raises UsageError for a number of facts that no node can need."""
    if not 1 <= facts <= FACTS_MAX:
        raise UsageError(f"A node needs between 1 and {FACTS_MAX:,} facts (got {facts:,}).")


@dataclass(frozen=True, slots=True)
class NodeNeed:
    """A node with its accepted facts and the independent origins that they come from.

    `is_on_the_way` where the goal needs it, itself or through others that need it first.
    """

    node: Branch
    facts: int
    origins: int
    is_on_the_way: bool
    is_exhausted: bool

    def is_covered(self, facts_min: int) -> bool:
        """Whether it has enough facts of enough origins."""
        return self.facts >= facts_min and self.origins >= ORIGINS_MIN


async def load_needs(session: Session, subject_id: str) -> list[NodeNeed]:
    """The nodes of a subject's own map, what the goal needs first, and prerequisites before what needs them."""
    tops, _ = await Nodes(session).tree(subject_id)
    branches = {branch["node_id"]: branch for branch in flatten(tops)}
    exhausted_ids = await load_exhausted(session, list(branches))
    titles = await load_titles(session, subject_id)
    rows = await session.rows(SQL["evidence"], {"subject_id": subject_id})
    # In a thread: thousands of paths take many milliseconds, for which no run waits.
    facts, origins = await asyncio.to_thread(_count, branches, titles, rows)
    order, way = order_nodes(branches)
    return [
        NodeNeed(
            branches[node_id], facts[node_id], len(origins[node_id]), node_id in way, node_id in exhausted_ids
        )
        for node_id in order
        if branches[node_id]["subject_id"] == subject_id
    ]


async def load_exhausted(session: Session, node_ids: Sequence[str]) -> frozenset[str]:
    """Which of these nodes gained nothing by two researches in turn."""
    rows = await session.rows(SQL["exhausted"], {"node_ids": [UUID(node_id) for node_id in node_ids]})
    return frozenset(row["node_id"] for row in rows)


def _count(
    branches: Mapping[str, Branch], titles: NodeTitles, rows: Sequence[DictRow]
) -> tuple[dict[str, int], dict[str, set[str]]]:
    """The accepted facts of each node, and the origins that they come from."""
    facts, origins = dict.fromkeys(branches, 0), {node_id: set[str]() for node_id in branches}
    for row in rows:
        for node_id in titles.nodes_of(row["topic_path"]):
            facts[node_id] += row["facts"]
            origins[node_id].update(map(address_origin, row["urls"]))
    return facts, origins


def order_nodes(branches: Mapping[str, Branch]) -> tuple[list[str], set[str]]:
    """All nodes in the order in which they are researched and taught, and those that the goal needs."""
    critical = [node_id for node_id, branch in branches.items() if branch["is_goal_critical"]]
    way = dict.fromkeys(_with_prerequisites(critical, branches))
    return list(dict.fromkeys([*way, *_with_prerequisites(list(branches), branches)])), set(way)


def _with_prerequisites(node_ids: Sequence[str], branches: Mapping[str, Branch]) -> Iterator[str]:
    """These nodes and all that they need, each after what it needs."""
    placed_ids: set[str] = set()
    entered_ids: set[str] = set()  # a circle that two writers closed at once must end here too
    path = [(node_id, False) for node_id in reversed(node_ids)]
    while path:
        node_id, is_ready = path.pop()
        if node_id in placed_ids:
            continue
        if is_ready:
            placed_ids.add(node_id)
            yield node_id
            continue
        if node_id in entered_ids:
            continue
        entered_ids.add(node_id)
        path.append((node_id, True))
        prerequisites = branches[node_id]["prerequisites"]
        path.extend((other_id, False) for other_id in reversed(prerequisites) if other_id in branches)
