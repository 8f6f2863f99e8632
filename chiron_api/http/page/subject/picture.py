"""The picture of a coverage map, as numbers and words for SVG."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from chiron_api.http.page.filters import excerpt, plural
from chiron_api.http.page.subject.coverage_map import CoverageMap, MapNode, shown_nodes
from chiron_api.http.page.subject.layers import place_nodes

LAYER_WIDTH, ROW_HEIGHT = 246, 44
MARGIN = 20
TITLE_CHARS = 28
CHAR_WIDTH = 7.0  # of the title's type, at most about so wide in Latin letters
RADIUS_MIN, RADIUS_MAX = 5.0, 14.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A node: its circle at x and y, and the words beside it."""

    node: MapNode
    x: float
    y: float
    radius: float
    title: str
    words: str
    is_selected: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from a node to one below it, or from a prerequisite to what needs it; `path` is that of SVG."""

    path: str
    is_prerequisite: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """Circles and lines in a field of this size."""

    dots: tuple[Dot, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int


def picture_of(coverage: CoverageMap) -> Picture | None:
    """The picture of the nodes that are shown; None where there are none."""
    nodes = shown_nodes(coverage)
    if not nodes:
        return None
    by_id = {node.id: node for node in nodes}
    parents = {child.id: node.id for node in nodes for child in node.visible}
    needs = {node.id: [need for need in node.branch["prerequisites"] if need in by_id] for node in nodes}
    predecessors = {node.id: [*_of(parents, node.id), *needs[node.id]] for node in nodes}
    places = place_nodes(list(by_id), predecessors)
    facts_max = max(node.all_facts for node in nodes)
    dots = {
        node.id: _dot(
            node,
            x=MARGIN + places[node.id].layer * LAYER_WIDTH,
            y=MARGIN + places[node.id].height * ROW_HEIGHT,
            facts_max=facts_max,
            is_selected=node is coverage.node,
        )
        for node in nodes
    }
    edges = [Edge(_curve(dots[parent], dots[child]), False) for child, parent in parents.items()]
    edges += [
        Edge(_curve(dots[need], dots[node]), True)
        for node, node_needs in needs.items()
        for need in node_needs
    ]
    return Picture(tuple(dots.values()), tuple(edges), *_size(dots.values()))


def _of(parents: dict[str, str], node_id: str) -> Sequence[str]:
    return [parents[node_id]] if node_id in parents else []


def _size(dots: Iterable[Dot]) -> tuple[int, int]:
    right = max(dot.x for dot in dots) + LAYER_WIDTH
    return round(right), round(max(dot.y for dot in dots) + MARGIN + 8)


def _dot(node: MapNode, *, x: float, y: float, facts_max: int, is_selected: bool) -> Dot:
    share = sqrt(node.all_facts / facts_max) if facts_max else 0.0  # the area is what one sees
    radius = RADIUS_MIN + share * (RADIUS_MAX - RADIUS_MIN)
    words = plural(node.all_facts, "fact") if node.all_facts else "nothing yet"
    if node.is_exhausted:
        words += ", exhausted"
    if node.hidden:
        words += f", {plural(node.hidden, 'node')} below"
    return Dot(
        node,
        round(x, 1),
        round(y, 1),
        round(radius, 1),
        excerpt(node.branch["title"], TITLE_CHARS),
        words,
        is_selected,
    )


def _curve(start: Dot, end: Dot) -> str:
    """From the end of the one's words to the other's circle, level at both ends."""
    words_end = start.x + RADIUS_MAX + 10 + _width(start.title)
    right = end.x - end.radius - 2
    if right <= start.x:  # the end of a circle of edges: from below to below
        lowest = max(start.y, end.y) + 36
        return f"M{start.x} {start.y + start.radius}Q{(start.x + end.x) / 2} {lowest} {end.x} {end.y + end.radius}"
    middle = max((words_end + right) / 2, right - 40)
    return f"M{words_end:.0f} {start.y}C{middle:.0f} {start.y} {middle:.0f} {end.y} {right:.0f} {end.y}"


def _width(text: str) -> float:
    return sum(CHAR_WIDTH * (1.9 if unicodedata.east_asian_width(sign) in "WF" else 1) for sign in text)
