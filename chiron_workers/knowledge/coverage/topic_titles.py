"""Which nodes of a coverage map the topic path of a fact names: for reports, searches and answers alike."""

import asyncio
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, cast

from chiron_workers.db.queries import load
from chiron_workers.knowledge.coverage.nodes import DEPTH_MAX
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus

SQL = load(__file__)
PATHS_MAX = 20_000  # of a subject, those with the most facts
TITLES_MAX = 20_000


class TitledNode(TypedDict):
    """The columns of a node that topic paths are compared with."""

    node_id: str
    title: str
    parent_id: str | None


class NodeTitles:
    """The titles of a coverage map, compared as people compare them: "Data-Model" is "data model", but where there is
    a "C++" it is not "C"."""

    def __init__(self, nodes: Iterable[TitledNode], aliases: Iterable[TitledNode] = ()) -> None:
        self._titles: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._ids_by_key: dict[str, list[str]] = defaultdict(list)
        for node in nodes:
            node_id, key = node["node_id"], _key(node["title"])
            self._ids_by_key[key].append(node_id)
            self._titles[node_id] = _plain(node["title"])
            self._keys[node_id] = key
            self._parents[node_id] = node["parent_id"] or ""
        for alias in aliases:  # titles of nodes that were merged into these
            self._ids_by_key[_key(alias["title"])].append(alias["node_id"])

    def nodes_of(self, path: str) -> list[str]:
        """The ids of the nodes that a fact at a topic path belongs to; none where no step of it names one.

        A fact belongs to the node that the last step of its path names, else to that of the step before, and so on.
        Of several nodes with one title it belongs to those below a node that an earlier step names, else to all.
        """
        steps = path.split("/")
        keys = [_key(step) for step in steps]
        for n in reversed(range(len(steps))):
            if node_ids := self._ids_by_key.get(keys[n], []):
                title = _plain(steps[n])
                node_ids = [node_id for node_id in node_ids if self._titles.get(node_id) == title] or node_ids
                before = set(keys[:n])
                return [
                    node_id for node_id in node_ids if not before.isdisjoint(self._above(node_id))
                ] or node_ids
        return []

    def count_facts(self, counts: Mapping[str, int]) -> tuple[dict[str, int], int]:
        """How many facts belong to each node, by id, and how many to none, from how many there are at each topic path."""
        facts_by_node, unmapped_facts = defaultdict[str, int](int), 0
        for path, facts in counts.items():
            node_ids = self.nodes_of(path)
            unmapped_facts += 0 if node_ids else facts
            for node_id in node_ids:
                facts_by_node[node_id] += facts
        return facts_by_node, unmapped_facts

    def _above(self, node_id: str) -> Iterator[str]:
        for _ in range(DEPTH_MAX):
            node_id = self._parents.get(node_id, "")
            if node_id not in self._keys:
                return
            yield self._keys[node_id]


async def load_titles(session: Session, subject_id: str) -> NodeTitles:
    """The titles of the nodes of a subject and of those shared with it; of 20,000 at most."""
    rows = await session.rows(SQL["titles"], {"subject_id": subject_id, "limit": TITLES_MAX})
    return await asyncio.to_thread(
        NodeTitles, cast("list[TitledNode]", rows), await load_aliases(session, subject_id)
    )


async def load_aliases(session: Session, subject_id: str) -> list[TitledNode]:
    """The titles of a subject's nodes that were merged into others, each with the id of the other."""
    rows = await session.rows(SQL["aliases"], {"subject_id": subject_id, "limit": TITLES_MAX})
    return cast("list[TitledNode]", rows)


async def count_facts_by_path(
    session: Session, subject_id: str, statuses: Sequence[FactStatus]
) -> dict[str, int]:
    """How many facts of these statuses a subject has at each topic path; of 20,000 paths at most, the fullest."""
    args = {"subject_id": subject_id, "statuses": list(statuses), "limit": PATHS_MAX}
    return {row["topic_path"]: row["facts"] for row in await session.rows(SQL["paths"], args)}


async def paths_of_nodes(
    session: Session, subject_id: str, node_ids: Collection[str], statuses: Sequence[FactStatus]
) -> list[str]:
    """The topic paths of a subject whose facts belong to one of these nodes."""
    titles, counts = (
        await load_titles(session, subject_id),
        await count_facts_by_path(session, subject_id, statuses),
    )
    return await asyncio.to_thread(
        lambda: [path for path in counts if not set(node_ids).isdisjoint(titles.nodes_of(path))]
    )


async def paths_by_node(
    session: Session,
    subject_id: str,
    branches: Mapping[str, Collection[str]],
    statuses: Sequence[FactStatus],
) -> dict[str, list[str]]:
    """As `paths_of_nodes` for many nodes of a subject at once.

    Args:
        branches: The ids of each node and of those below it, by the id of the node.
    """
    titles, counts = (
        await load_titles(session, subject_id),
        await count_facts_by_path(session, subject_id, statuses),
    )
    return await asyncio.to_thread(_place_paths, titles, counts, branches)


def _place_paths(
    titles: NodeTitles, paths: Iterable[str], branches: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    tops: dict[str, list[str]] = defaultdict(list)
    for top_id, node_ids in branches.items():
        for node_id in node_ids:
            tops[node_id].append(top_id)
    placed: dict[str, list[str]] = {top_id: [] for top_id in branches}
    for path in paths:
        for top_id in dict.fromkeys(top_id for node_id in titles.nodes_of(path) for top_id in tops[node_id]):
            placed[top_id].append(path)
    return placed


def _plain(title: str) -> str:
    return unicodedata.normalize("NFC", title.casefold()).strip()


def _key(title: str) -> str:
    """Its words alone; of a title without words all of it. Marks belong to words: vowels are marks in many scripts."""
    plain = _plain(title)
    words = "".join(sign if sign.isalnum() or unicodedata.category(sign)[0] == "M" else " " for sign in plain)
    return " ".join(words.split()) or plain
