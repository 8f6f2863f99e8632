"""The coverage map of a subject: which of its nodes something is known of."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chiron_api.reports.report import NodeCoverage
from chiron_workers.store.nodes import Branch


def cover(tops: Sequence[Branch], paths: Mapping[str, int]) -> tuple[tuple[NodeCoverage, ...], int]:
    """Each node with its facts, parents before what is below them, and how many facts belong to no node.

    Args:
        tops: The topmost nodes with all below them.
        paths: How many facts there are at each topic path.
    """
    own, unmapped = _own_facts(tops, paths)
    return tuple(line for top in tops for line in _lines(top, own, 0)), unmapped


def _own_facts(tops: Sequence[Branch], paths: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """A fact belongs to the node that the last step of its path names, else to that of the step before, and so on.

    Of several nodes with one title it belongs to those below a node that an earlier step names, else to all of them.
    """
    named = _by_title(tops)
    own: dict[str, int] = defaultdict(int)
    unmapped = 0
    for path, facts in paths.items():
        steps = [_key(step) for step in path.split("/")]
        found = next((n for n in reversed(range(len(steps))) if steps[n] in named), None)
        if found is None:
            unmapped += facts
            continue
        nodes, before = named[steps[found]], set(steps[:found])
        for node_id in [node_id for node_id, above in nodes if above & before] or [
            node_id for node_id, _ in nodes
        ]:
            own[node_id] += facts
    return own, unmapped


def _by_title(tops: Sequence[Branch]) -> dict[str, list[tuple[str, set[str]]]]:
    """By title: the ids of the nodes that have it, and the titles above each."""
    found: dict[str, list[tuple[str, set[str]]]] = defaultdict(list)
    open_branches = [(top, set[str]()) for top in tops]
    while open_branches:
        branch, above = open_branches.pop()
        key = _key(branch["title"])
        found[key].append((branch["node_id"], above))
        open_branches += [(child, above | {key}) for child in branch["children"]]
    return found


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


def _key(title: str) -> str:
    """A title as people compare it: "Data-Model" is "data model"."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in title.casefold()).split())
