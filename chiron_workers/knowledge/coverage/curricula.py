"""Curricula: a whole coverage map, saved at once, that leads to a learning goal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypedDict
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.knowledge.coverage.nodes import NODES_MAX, Branch, Nodes, SavedNode, draft, flatten
from chiron_workers.knowledge.coverage.nodes import SQL as NODES_SQL
from chiron_workers.knowledge.coverage.prerequisites import connected_components, cycle_words, find_cycle
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session

SQL = load(__file__)
APART_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """A node of a curriculum, which names its parent and its prerequisites by their titles.

    `shared_node_id` is a node of another subject that the map shows as well; only its title is used.
    """

    title: str
    description: str
    parent: str = ""
    prerequisites: tuple[str, ...] = ()
    is_goal_critical: bool = False
    shared_node_id: str = ""


class SavedCurriculum(TypedDict):
    """How many nodes are new, how many were there, and what the map has now."""

    subject_id: str
    additions: int
    updates: int
    nodes: int
    goal_critical: int


class Curricula:
    """Saves whole maps: without circles, and each node on the way to what the goal needs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.nodes = Nodes(session)

    async def save(self, subject_id: str, entries: Sequence[Entry]) -> SavedCurriculum:
        """Add the nodes that are not there; one of the same title, wherever it stands in the map, is that node.

        Raises:
            ToolValidationError: Two entries have one title, a title is unknown, parents or prerequisites run in a circle (the
                message names it), or nodes do not hang together with a goal-critical one.
        """
        subjects = Subjects(self.session)
        await self.nodes.lock(subjects.require_writable(subject_id))
        subject_id = await subjects.ensure_writable(subject_id)
        entries_by_title = _by_title(entries)
        branches_by_title = {_key(branch["title"]): branch for branch in await self._branches(subject_id)}
        _refuse_cycles(entries_by_title, branches_by_title)
        node_ids = {key: branch["node_id"] for key, branch in branches_by_title.items()}
        statuses = []
        for key in _parents_first(entries_by_title):
            receipt = await self._save(
                subject_id, entries_by_title[key], node_ids, branches_by_title.get(key)
            )
            node_ids[key] = receipt["node_id"]
            statuses.append(receipt["status"])
        for key, entry in entries_by_title.items():  # a parent may need what stands below it
            if entry.prerequisites and not entry.shared_node_id:
                needed_ids = {node_ids[_key(title)] for title in entry.prerequisites}
                # Two titles of one node may need each other.
                await self.nodes.add_prerequisites(node_ids[key], sorted(needed_ids - {node_ids[key]}))
        branches = await self._branches(subject_id)
        _refuse_unconnected(branches)
        await self.session.write(SQL["mapped"], {"subject_id": subject_id})
        additions = statuses.count("saved")
        return SavedCurriculum(
            subject_id=subject_id,
            additions=additions,
            updates=len(statuses) - additions,
            nodes=len(branches),
            goal_critical=sum(branch["is_goal_critical"] for branch in branches),
        )

    async def is_mapped(self, subject_id: str) -> bool:
        """Whether a curriculum was handed in for the subject, so that others only propose what should change."""
        return await self.session.row(SQL["is_mapped"], {"subject_id": subject_id}) is not None

    async def _save(
        self, subject_id: str, entry: Entry, node_ids: Mapping[str, str], present: Branch | None
    ) -> SavedNode:
        if entry.shared_node_id:
            return await self._share(subject_id, entry)
        if present is not None and present["subject_id"] != subject_id:
            return _receipt(present, "updated")
        parent_id = (
            present["parent_id"] if present else node_ids.get(_key(entry.parent)) if entry.parent else None
        )
        node = draft(
            subject_id=subject_id,
            title=present["title"] if present else entry.title,
            description=entry.description,
            parent_id=parent_id,
            depth=present["depth"] if present else 0,
            is_goal_critical=entry.is_goal_critical or bool(present and present["is_goal_critical"]),
        )
        return await self.nodes.save(node)

    async def _share(self, subject_id: str, entry: Entry) -> SavedNode:
        node = await self.nodes.get(entry.shared_node_id)
        if _key(node["title"]) != _key(entry.title):
            raise ToolValidationError(
                f"nodes: the node {entry.shared_node_id} is called {node['title']!r}, not {entry.title!r}.",
                field="nodes",
            )
        args = {"node_id": UUID(node["node_id"]), "subject_id": subject_id}
        await self.session.write(NODES_SQL["share"], args)
        return _receipt(node, "updated")

    async def _branches(self, subject_id: str) -> list[Branch]:
        """Every node of the map in one list."""
        tops, is_cut = await self.nodes.tree(subject_id)
        if is_cut:
            raise ToolError(f"The map has more than {NODES_MAX:,} nodes; split it over several subjects.")
        return list(flatten(tops))


def _by_title(entries: Iterable[Entry]) -> dict[str, Entry]:
    by_title: dict[str, Entry] = {}
    for entry in entries:
        if _key(entry.title) in by_title:
            raise ToolValidationError(
                f"nodes: there are two nodes {entry.title!r}; give each a title of its own.", field="nodes"
            )
        by_title[_key(entry.title)] = entry
    return by_title


def _parents_first(entries: Mapping[str, Entry]) -> Iterator[str]:
    parents = {key: {_key(entry.parent)} if entry.parent else set() for key, entry in entries.items()}
    return (key for key in TopologicalSorter(parents).static_order() if key in entries)


def _refuse_cycles(entries: Mapping[str, Entry], branches_by_title: Mapping[str, Branch]) -> None:
    keys = entries.keys() | branches_by_title.keys()
    for entry in entries.values():
        if unknown_titles := [
            title for title in (entry.parent, *entry.prerequisites) if title and _key(title) not in keys
        ]:
            raise ToolValidationError(
                f"nodes: {entry.title!r} names {unknown_titles[0]!r}, which is neither among the nodes nor in the map.",
                field="nodes",
            )
    titles = {key: entry.title for key, entry in entries.items()} | {
        key: branch["title"] for key, branch in branches_by_title.items()
    }
    keys_by_id = {branch["node_id"]: key for key, branch in branches_by_title.items()}
    needs = {
        key: {keys_by_id[node_id] for node_id in branch["prerequisites"] if node_id in keys_by_id}
        for key, branch in branches_by_title.items()
    }
    for key, entry in entries.items():
        needs[key] = needs.get(key, set()) | {_key(title) for title in entry.prerequisites}
    parents = {key: {_key(entry.parent)} for key, entry in entries.items() if entry.parent}
    for field, graph in (("prerequisites", needs), ("parents", parents)):
        if cycle := find_cycle(graph):
            words = cycle_words(titles[key] for key in cycle)
            raise ToolValidationError(f"nodes: {field} run in a circle: {words}.", field="nodes")


def _refuse_unconnected(branches: Sequence[Branch]) -> None:
    titles = {branch["node_id"]: branch["title"] for branch in branches}
    critical = {branch["node_id"] for branch in branches if branch["is_goal_critical"]}
    if not critical:
        raise ToolValidationError(
            "nodes: none is goal-critical; mark those without which the goal cannot be reached.",
            field="nodes",
        )
    links = [
        (branch["node_id"], neighbour)
        for branch in branches
        for neighbour in (*branch["prerequisites"], branch["parent_id"])
        if neighbour in titles
    ]
    apart = [
        titles[node]
        for component in connected_components(titles, links)
        if not component & critical
        for node in component
    ]
    if apart:
        names = ", ".join(map(repr, sorted(apart)[:APART_SHOWN]))
        raise ToolValidationError(
            f"nodes: {names} lead to nothing that the goal needs; give each a parent or name it as a prerequisite, or leave "
            "it out.",
            field="nodes",
        )


def _receipt(node: Mapping[str, object], status: str) -> SavedNode:
    return SavedNode(
        status=status,
        node_id=str(node["node_id"]),
        subject_id=str(node["subject_id"]),
        title=str(node["title"]),
        depth=int(str(node["depth"])),
    )


def _key(title: str) -> str:
    return " ".join(title.casefold().split())
