"""The coverage map of a subject: which of its nodes something is known of."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chiron_api.reports.report import NodeCoverage
from chiron_workers.knowledge.coverage.nodes import Branch
from chiron_workers.knowledge.coverage.topic_titles import NodeTitles


def cover(tops: Sequence[Branch], paths: Mapping[str, int]) -> tuple[tuple[NodeCoverage, ...], int]:
    """Each node with its facts, parents before what is below them, and how many facts belong to no node.

    Args:
        tops: The topmost nodes with all below them.
        paths: How many facts there are at each topic path.
    """
    own, unmapped = _own_facts(tops, paths)
    return tuple(line for top in tops for line in _lines(top, own, 0)), unmapped


def _own_facts(tops: Sequence[Branch], paths: Mapping[str, int]) -> tuple[dict[str, int], int]:
    named, own, unmapped = NodeTitles(_every(tops)), defaultdict[str, int](int), 0
    for path, facts in paths.items():
        nodes = named.nodes_of(path)
        unmapped += 0 if nodes else facts
        for node_id in nodes:
            own[node_id] += facts
    return own, unmapped


def _every(branches: Sequence[Branch]) -> Iterator[Branch]:
    for branch in branches:
        yield branch
        yield from _every(branch["children"])


def _lines(branch: Branch, own: Mapping[str, int], level: int) -> Iterator[NodeCoverage]:
    below = [line for child in branch["children"] for line in _lines(child, own, level + 1)]
    yield NodeCoverage(
        node_id=branch["node_id"],
        title=branch["title"],
        level=level,
        is_goal_critical=branch["is_goal_critical"],
        facts=own.get(branch["node_id"], 0),
        facts_below=sum(line.facts for line in below),
    )
    yield from below
