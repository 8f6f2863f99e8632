"""The coverage map of a subject: which nodes are shown, how much is known of each, and the topic paths of one of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chiron_workers.knowledge.coverage.nodes import Branch
from chiron_workers.knowledge.coverage.topic_titles import NodeTitles, TitledNode

NODES_SHOWN = 48  # a map of more nodes is one to walk into
HOLES_SHOWN = 12


@dataclass(slots=True)
class MapNode:
    """A node with its facts, those of the nodes below it, and how many of it and those have any.

    `visible` are those of its children that the page shows.
    """

    branch: Branch
    above: "MapNode | None"
    facts: int = 0
    facts_below: int = 0
    is_exhausted: bool = False  # two rounds of research in turn gained it nothing
    nodes: int = 1
    nodes_with_facts: int = 0
    children: list["MapNode"] = field(default_factory=list)
    visible: list["MapNode"] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id."""
        return self.branch["node_id"]

    @property
    def all_facts(self) -> int:
        """Its facts and those of all nodes below it."""
        return self.facts + self.facts_below

    @property
    def hidden(self) -> int:
        """How many nodes are below it that are not shown."""
        return 0 if self.visible or not self.children else self.nodes - 1

    @property
    def quarters(self) -> int:
        """Its coverage from 0 to 4: 0 is nothing at all, 4 facts for it and for every node below it."""
        return -(-4 * self.nodes_with_facts // self.nodes)


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """What the page shows of a map.

    Attributes:
        top_nodes: The topmost nodes that are shown, with those below them.
        path: From the top to the node that somebody looks at, which is the last.
        part: Of nodes that are too many for a picture, which part it shows, from 1.
        holes: Nodes without any fact, goal-critical ones first.
        paths: The topic paths of the facts of the node that somebody looks at; None: of all facts.
        facts: How many facts each node has, also by those below it.
    """

    top_nodes: tuple[MapNode, ...]
    path: tuple[MapNode, ...]
    part: int
    parts: int
    nodes: int
    nodes_with_facts: int
    critical_holes: int
    holes: tuple[MapNode, ...]
    unmapped_facts: int
    is_cut: bool
    paths: list[str] | None
    facts: Mapping[str, int]

    @property
    def node(self) -> MapNode | None:
        """The node that somebody looks at."""
        return self.path[-1] if self.path else None


def draw_up(
    tops: Sequence[Branch],
    facts_by_path: Mapping[str, int],
    *,
    node_id: str = "",
    part: int = 1,
    is_cut: bool = False,
    aliases: Sequence[TitledNode] = (),
    exhausted_ids: Collection[str] = (),
) -> CoverageMap:
    """The map, or what fits of it: the node that somebody looks at with the nearest nodes below it.

    Args:
        aliases: Titles of nodes that were merged into others, with the ids of those.
    """
    roots = [_node(top, None) for top in tops]
    nodes = {node.id: node for root in roots for node in _walk(root)}
    nodes_by_path = _map_facts(nodes, facts_by_path, aliases)
    for exhausted_id in nodes.keys() & {*exhausted_ids}:
        nodes[exhausted_id].is_exhausted = True
    for node in reversed(nodes.values()):  # what is below a node comes after it
        _count(node)
    focus = nodes.get(node_id)
    inside = {node.id for node in _walk(focus)} if focus else set[str]()
    holes = [node for node in nodes.values() if not node.all_facts]
    top_nodes, part, parts = _choose(roots, focus, part, total=len(nodes))
    return CoverageMap(
        top_nodes=tuple(top_nodes),
        path=tuple(_path(focus)),
        part=part,
        parts=parts,
        nodes=len(nodes),
        nodes_with_facts=sum(node.facts > 0 for node in nodes.values()),
        critical_holes=sum(node.branch["is_goal_critical"] for node in holes),
        holes=tuple(sorted(holes, key=lambda node: not node.branch["is_goal_critical"])[:HOLES_SHOWN]),
        unmapped_facts=sum(facts_by_path[path] for path, ids in nodes_by_path.items() if not ids),
        is_cut=is_cut,
        paths=[path for path, ids in nodes_by_path.items() if not inside.isdisjoint(ids)] if focus else None,
        facts={node.id: node.all_facts for node in nodes.values()},
    )


def shown_nodes(coverage: CoverageMap) -> list[MapNode]:
    """The nodes that are shown, parents before what is below them."""
    nodes: list[MapNode] = []
    queue = list(reversed(coverage.top_nodes))
    while queue:
        node = queue.pop()
        nodes.append(node)
        queue += reversed(node.visible)
    return nodes


def _node(branch: Branch, above: MapNode | None) -> MapNode:
    node = MapNode(branch, above)
    node.children = [_node(child, node) for child in branch["children"]]
    return node


def _walk(node: MapNode) -> Iterator[MapNode]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _map_facts(
    nodes: Mapping[str, MapNode], facts_by_path: Mapping[str, int], aliases: Sequence[TitledNode]
) -> dict[str, list[str]]:
    """Add its facts to each node; the ids of the nodes of each topic path."""
    titles = NodeTitles([node.branch for node in nodes.values()], aliases)
    nodes_by_path = {path: titles.nodes_of(path) for path in facts_by_path}
    for path, ids in nodes_by_path.items():
        for node_id in ids:
            nodes[node_id].facts += facts_by_path[path]
    return nodes_by_path


def _count(node: MapNode) -> None:
    node.facts_below = sum(child.all_facts for child in node.children)
    node.nodes = 1 + sum(child.nodes for child in node.children)
    node.nodes_with_facts = (node.facts > 0) + sum(child.nodes_with_facts for child in node.children)


def _path(node: MapNode | None) -> list[MapNode]:
    return [*_path(node.above), node] if node else []


def _choose(
    roots: list[MapNode], focus: MapNode | None, part: int, *, total: int
) -> tuple[list[MapNode], int, int]:
    """The topmost nodes to show; which of how many parts of what is below them that is."""
    if total > NODES_SHOWN and focus and not focus.children:
        focus = focus.above
    is_whole = total <= NODES_SHOWN
    candidates = focus.children if focus and not is_whole else roots
    room = NODES_SHOWN - 1
    parts = max(1, -(-len(candidates) // room))
    part = min(part, parts)
    nodes = candidates[(part - 1) * room : part * room]
    if focus and not is_whole:
        focus.visible = nodes
    _open(nodes, total if is_whole else room - len(nodes))
    return ([focus] if focus and not is_whole else nodes), part, parts


def _open(nodes: list[MapNode], room: int) -> None:
    """Show what is below nodes, level by level, as far as there is room for all of a node's children."""
    queue = list(nodes)
    for node in queue:
        if len(node.children) <= room:
            node.visible = node.children
            room -= len(node.children)
            queue += node.children
