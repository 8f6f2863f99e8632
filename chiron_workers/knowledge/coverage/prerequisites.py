"""Which nodes need which: circles, and what hangs together."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def find_cycle(prerequisites: Mapping[Node, Collection[Node]]) -> list[Node]:
    """A cycle in what nodes need: each needs the next one, and the last is the first again. Empty where there is none."""
    sorter = TopologicalSorter(prerequisites)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[Node] = error.args[1]
        return cycle[::-1]
    return []


def teaching_order(prerequisites: Mapping[Node, Collection[Node]]) -> list[Node]:
    """The nodes in an order in which none comes before what it needs; apart from that in their own order.

    What nodes need and is none of them is passed over.

    Raises:
        CycleError: The prerequisites run in a circle; `find_cycle` names it.
    """
    places = {node: n for n, node in enumerate(prerequisites)}
    sorter = TopologicalSorter(
        {node: [need for need in needs if need in places] for node, needs in prerequisites.items()}
    )
    sorter.prepare()
    order: list[Node] = []
    ready: list[tuple[int, Node]] = []
    while sorter.is_active():
        for node in sorter.get_ready():
            heappush(ready, (places[node], node))
        _, node = heappop(ready)
        order.append(node)
        sorter.done(node)
    return order


def connected_components(nodes: Iterable[Node], links: Iterable[tuple[Node, Node]]) -> list[set[Node]]:
    """The connected components of an undirected graph: the nodes in sets that hang together."""
    neighbours: dict[Node, set[Node]] = defaultdict(set)
    for left_node, right_node in links:
        neighbours[left_node].add(right_node)
        neighbours[right_node].add(left_node)
    sets, remainder = [], dict.fromkeys(nodes)
    while remainder:
        component, border = set[Node](), [next(iter(remainder))]
        while border:
            node = border.pop()
            if node in remainder and node not in component:
                component.add(node)
                border.extend(neighbours[node])
        sets.append(component)
        for node in component:
            del remainder[node]
    return sets


def cycle_words(titles: Iterable[str]) -> str:
    """A cycle as a sentence has it: "A" needs "B", which needs "A"."""
    first, second, *further_titles = map(repr, titles)
    return f"{first} needs {second}" + "".join(f", which needs {title}" for title in further_titles)
