"""Layers for a picture of a graph: each node right of what leads to it, few crossings, edges short.

After Sugiyama, Tagawa and Toda (1981): layers by the longest path, the order within a layer by the mean of its neighbours, and
places as near to those neighbours as the distance between two nodes allows.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LAYER_NODES_MAX = 16  # a layer that is full goes on in the next one
SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: its layer from 0, and its height in distances between two nodes, from 0."""

    layer: int
    height: float


def place_nodes(nodes: Sequence[str], predecessors: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """A place for each node, left of what it leads to; an edge that closes a circle leads to the left.

    Args:
        nodes: In the order in which they stand if nothing else decides.
        predecessors: What leads to each node.
    """
    node_ids = set(nodes)
    predecessors = {
        node: [predecessor for predecessor in predecessors.get(node, ()) if predecessor in node_ids]
        for node in nodes
    }
    layers = _layers(nodes, predecessors)
    rows: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        rows[layers[node]].append(node)
    neighbours: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        for predecessor in predecessors[node]:
            neighbours[node].append(predecessor)
            neighbours[predecessor].append(node)
    heights = {node: float(n) for row in rows.values() for n, node in enumerate(row)}
    order = sorted(rows)
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 == 0 else reversed(order):
            _settle(rows[layer], neighbours, heights)
    lowest = min(heights.values(), default=0.0)
    return {node: Place(layers[node], heights[node] - lowest) for node in nodes}


def _layers(nodes: Sequence[str], predecessors: Mapping[str, Sequence[str]]) -> dict[str, int]:
    layers: dict[str, int] = {}
    counts: Counter[int] = Counter()
    for node in _sorted_by_edges(nodes, predecessors):
        layer = 1 + max(
            (layers[node_before] for node_before in predecessors[node] if node_before in layers), default=-1
        )
        while counts[layer] >= LAYER_NODES_MAX:  # ends: only so many layers can be full
            layer += 1
        layers[node] = layer
        counts[layer] += 1
    return layers


def _sorted_by_edges(nodes: Sequence[str], predecessors: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes, each after what leads to it; where a circle is left, the first node of it goes first."""
    open_edges = {node: set(predecessors[node]) - {node} for node in nodes}
    order: list[str] = []
    while open_edges:  # ends: each round takes a node
        free = [node for node, edges in open_edges.items() if not edges] or [next(iter(open_edges))]
        for node in free:
            del open_edges[node]
        for edges in open_edges.values():
            edges.difference_update(free)
        order += free
    return order


def _settle(row: list[str], neighbours: Mapping[str, Sequence[str]], heights: dict[str, float]) -> None:
    """Order a layer by the mean height of each node's neighbours, and move it as near to that as the others allow."""
    wishes = {
        node: sum(heights[neighbour] for neighbour in neighbours[node]) / len(neighbours[node])
        if neighbours.get(node)
        else heights[node]
        for node in row
    }
    row.sort(key=lambda node: wishes[node])
    heights |= zip(row, _spread([wishes[node] for node in row]), strict=True)


def _spread(wishes: Sequence[float]) -> list[float]:
    """Heights at least 1 apart with the least sum of squared distances to ascending wishes.

    Without the distance it is isotonic regression, which pools neighbours that are out of order.
    """
    pools: list[list[float]] = []  # sum and number of each
    for n, wish in enumerate(wishes):
        pools.append([wish - n, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    means = [total / count for total, count in pools for _ in range(int(count))]
    return [mean + n for n, mean in enumerate(means)]
