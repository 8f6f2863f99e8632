"""The coverage map of a subject: which of its nodes something is known of."""

from collections.abc import Iterator, Mapping, Sequence

from chiron_api.reports.report import NodeCoverage
from chiron_workers.knowledge.coverage.nodes import Branch, flatten
from chiron_workers.knowledge.coverage.topic_titles import NodeTitles, TitledNode


def cover(
    tops: Sequence[Branch], paths: Mapping[str, int], aliases: Sequence[TitledNode] = ()
) -> tuple[tuple[NodeCoverage, ...], int]:
    """Each node with its facts, parents before what is below them, and how many facts belong to no node.

    Args:
        tops: The topmost nodes with all below them.
        paths: How many facts there are at each topic path.
        aliases: Titles of nodes that were merged into others, with the ids of those.
    """
    facts_by_node, unmapped_facts = NodeTitles(flatten(tops), aliases).count_facts(paths)
    return tuple(line for top in tops for line in _lines(top, facts_by_node, 0)), unmapped_facts


def _lines(branch: Branch, facts_by_node: Mapping[str, int], level: int) -> Iterator[NodeCoverage]:
    below = [line for child in branch["children"] for line in _lines(child, facts_by_node, level + 1)]
    yield NodeCoverage(
        node_id=branch["node_id"],
        title=branch["title"],
        level=level,
        is_goal_critical=branch["is_goal_critical"],
        facts=facts_by_node.get(branch["node_id"], 0),
        facts_below=sum(line.facts for line in below),
    )
    yield from below
