from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NotRequired, TypedDict, cast
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, parse_id
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.coverage.prerequisites import cycle_words, find_cycle
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.runs.session import Session
from chiron_workers.states import EventKind

SQL = load(__file__)

TITLE_CHARS_MAX = 300
DESCRIPTION_CHARS_MAX = 8_000
DEPTH_MAX = 50
PREREQUISITES_MAX = 50
SHARED_MAX = 50
NODES_MAX = 2_000
CHILDREN_MAX = 500


class Node(TypedDict):
    """A node of a coverage map; `prerequisites` are ids of the nodes to know first."""

    node_id: str
    subject_id: str
    title: str
    description: str
    parent_id: str | None
    depth: int
    is_goal_critical: bool
    prerequisites: list[str]
    shared_with_subjects: list[str]


class Child(TypedDict):
    """A node as its parent names it."""

    node_id: str
    title: str


class Branch(Node):
    """A node with everything below it."""

    children: list["Branch"]


class SavedNode(TypedDict):
    """The receipt for a node: `status` is saved (new), updated, known (it is there already), or proposed.

    What is proposed has a `proposal_id` and no `node_id` yet.
    """

    status: str
    node_id: NotRequired[str]
    proposal_id: NotRequired[str]
    subject_id: str
    title: str
    depth: int


class NodeMatch(TypedDict):
    """A node that matches a question, or was asked for by its id."""

    node_id: str
    subject_id: str
    title: str
    description: str
    is_goal_critical: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A node to save; None leaves prerequisites or sharing as they are."""

    subject_id: str
    title: str
    description: str
    parent_id: UUID | None
    depth: int
    is_goal_critical: bool
    prerequisites: list[UUID] | None
    shared_with_subjects: list[str] | None


@dataclass(frozen=True, slots=True)
class Place:
    """Which node a draft becomes, and how deep it stands."""

    node_id: UUID
    depth: int
    is_new: bool
    is_removed: bool = False
    is_alias: bool = False  # the title of a node that was merged into this one


def draft(
    *,
    subject_id: str,
    title: str,
    description: str,
    parent_id: str | None = None,
    depth: int = 0,
    is_goal_critical: bool = False,
    prerequisites: Sequence[str] | None = None,
    shared_with_subjects: Sequence[str] | None = None,
) -> Draft:
    """A node fit to be saved. Raises ToolValidationError, which names the argument and what is wrong."""
    _check_count(len(prerequisites or ()), field="prerequisites", count_max=PREREQUISITES_MAX)
    _check_count(len(shared_with_subjects or ()), field="shared_with_subjects", count_max=SHARED_MAX)
    return Draft(
        subject_id=slug(subject_id),
        title=clean_text(title, field="title", chars_max=TITLE_CHARS_MAX),
        description=clean_text(description, field="description", chars_max=DESCRIPTION_CHARS_MAX),
        parent_id=parse_id(parent_id, field="parent_id") if parent_id else None,
        depth=depth,
        is_goal_critical=is_goal_critical,
        prerequisites=None if prerequisites is None else _distinct(prerequisites),
        shared_with_subjects=None
        if shared_with_subjects is None
        else sorted(map(slug, shared_with_subjects)),
    )


class Nodes:
    """Coverage maps: for each subject a tree of what there is to know, with prerequisites."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def save(self, draft: Draft) -> SavedNode:
        """Add a node, or update the one of the same title below the same parent.

        Raises:
            ToolValidationError: The parent or a prerequisite is not there or belongs to a subject that does
                not share it, the prerequisites run in a circle, the tree gets deeper than 50, or a run shares
                the node with another subject.
        """
        subjects = Subjects(self.session)
        subjects.require_writable(draft.subject_id)
        draft = self._with_allowed_sharing(draft)
        await self.place(draft)  # a refusal waits for no lock
        await self._lock(draft)
        await subjects.ensure_writable(draft.subject_id)
        place = await self.place(draft)
        if place.is_alias:
            return _known(await self.get(str(place.node_id)))
        args = asdict(draft) | {
            "node_id": place.node_id,
            "depth": place.depth,
            "run_id": self.session.caller.run_id,
        }
        await self.session.write(SQL["insert" if place.is_new else "update"], args)
        receipt = SavedNode(
            status="saved" if place.is_new else "updated",
            node_id=str(place.node_id),
            subject_id=draft.subject_id,
            title=draft.title,
            depth=place.depth,
        )
        self.session.emit(EventKind.NODE_SAVED, {**receipt, "is_goal_critical": draft.is_goal_critical})
        return receipt

    async def add_prerequisites(self, node_id: str, prerequisites: Sequence[str]) -> Node:
        """Let a node need others as well; it keeps what it needs already.

        Raises:
            ToolValidationError: A node is not there, or of another subject that does not share it, or the prerequisites would
                run in a circle.
        """
        node = await self.get(node_id)
        Subjects(self.session).require_writable(node["subject_id"], field="node_id")
        needed_ids = list(dict.fromkeys([*node["prerequisites"], *prerequisites]))
        if needed_ids == node["prerequisites"]:
            return node
        change = draft(
            subject_id=node["subject_id"],
            title=node["title"],
            description=node["description"],
            parent_id=node["parent_id"],
            depth=node["depth"],
            is_goal_critical=node["is_goal_critical"],
            prerequisites=needed_ids,
        )
        await self._lock(change)
        place = await self.place(change)
        await self.session.write(SQL["update"], asdict(change) | {"node_id": place.node_id})
        return await self.get(node_id)

    async def lock(self, subject_id: str) -> None:
        """Keep other writers out of a subject's map until the end of the transaction."""
        await self.session.lock(SQL["lock"], {"subject_ids": [subject_id]}, keys=[f"nodes {subject_id}"])

    async def require(self, node_id: str) -> UUID:
        """The id of a node that exists. Raises ToolValidationError naming node_id."""
        return UUID((await self.get(node_id))["node_id"])

    async def hold(self, node_id: UUID) -> UUID:
        """A node that is there, or the one that it was merged into; nobody merges it before the end of the transaction.

        Whoever writes what hangs on a node calls it before anything else, so that a merge leaves nothing behind.
        """
        [row] = await self.session.write(SQL["hold"], {"node_id": node_id})
        return cast("UUID", row["id"])

    async def get(self, node_id: str) -> Node:
        """One node; that of a merged one is the one that remains. Raises ToolValidationError naming node_id for none."""
        uuid = parse_id(node_id, field="node_id")
        row = await self.session.row(SQL["get"], {"node_id": uuid})
        if row is None:
            raise ToolValidationError(
                f"node_id: no node has the id {uuid}; get_knowledge_tree lists the nodes of a subject.",
                field="node_id",
            )
        return cast("Node", row)

    async def successors(self, subject_id: str, name: str) -> set[str]:
        """The ids of the nodes that those of an id or a title were merged into."""
        args = {"subject_id": subject_id, "name": name}
        return {row["node_id"] for row in await self.session.rows(SQL["successors"], args)}

    async def children(self, node: Node) -> list[Child]:
        """The nodes directly below one, oldest first; 500 at most.

        A run sees those of the node's subject and of its own, not what other subjects hang below a shared node.
        """
        run_subject = self.session.caller.subject_id
        subject_ids = None if run_subject is None else [node["subject_id"], run_subject]
        args = {"node_id": UUID(node["node_id"]), "subject_ids": subject_ids, "limit": CHILDREN_MAX}
        return cast("list[Child]", await self.session.rows(SQL["children"], args))

    async def tree(self, subject_id: str) -> tuple[list[Branch], bool]:
        """The nodes of a subject and those shared with it, nested, and whether more than 2,000 had to be cut.

        A shared node whose parent is not shared stands at the top.
        """
        args = {"subject_id": slug(subject_id), "limit": NODES_MAX + 1}
        rows = await self.session.rows(SQL["of_a_subject"], args)
        branches = {row["node_id"]: cast("Branch", {**row, "children": []}) for row in rows[:NODES_MAX]}
        for branch in branches.values():
            if parent := branches.get(branch["parent_id"] or ""):
                parent["children"].append(branch)
        tops = [branch for branch in branches.values() if branch["parent_id"] not in branches]
        return tops, len(rows) > NODES_MAX

    async def matching(
        self, question: str, *, node_ids: Sequence[str], subject_id: str | None, limit: int
    ) -> list[NodeMatch]:
        """The nodes with these ids, then those that share a word with a question, best first."""
        args = {"question": question, "named": list(node_ids), "subject_id": subject_id, "limit": limit}
        return cast("list[NodeMatch]", await self.session.rows(SQL["matching"], args))

    def _with_allowed_sharing(self, draft: Draft) -> Draft:
        """The draft; within a run one that leaves the sharing as it is, since other subjects' maps are not the run's."""
        run_subject = self.session.caller.subject_id
        if run_subject is None:
            return draft
        if others := set(draft.shared_with_subjects or ()) - {run_subject}:
            raise ToolValidationError(
                f"shared_with_subjects: this run works on {run_subject!r} and cannot show a node in the map of "
                f"{', '.join(map(repr, sorted(others)))}; leave it out. A person can share the node.",
                field="shared_with_subjects",
            )
        return replace(draft, shared_with_subjects=None)

    async def place(self, draft: Draft) -> Place:
        """Which node a draft becomes, and how deep. Raises ToolValidationError, as `save`."""
        depth = _depth(draft, await self._referenced_nodes(draft))
        node = await self.session.row(SQL["same_title"], asdict(draft))
        node_id = (node["merged_into"] or node["id"]) if node else ids.new_id()
        await self._refuse_cycle(node_id, draft)
        if node is None:
            return Place(node_id, depth, is_new=True)
        is_alias = node["merged_into"] is not None
        return Place(node_id, depth, is_new=False, is_removed=node["is_removed"], is_alias=is_alias)

    async def _lock(self, draft: Draft) -> None:
        """Lock the draft's subject and those of all nodes that it needs, directly or through others.

        Of the saves that would close a circle together, each locks the subject of the next one's node. So the last of
        them sees the others, if no node that it needs is of a subject it has not locked: it looks again under the lock.
        """
        is_first_write = not self.session.is_writing
        locked: set[str] = set()
        while unlocked := await self._subjects(draft) - locked:  # ends: it locks more each time
            if is_first_write:  # all locks are taken in one order
                await self.session.rollback()
            locked |= unlocked
            subject_ids = sorted(locked)
            keys = [f"nodes {subject_id}" for subject_id in subject_ids]
            await self.session.lock(SQL["lock"], {"subject_ids": subject_ids}, keys=keys)

    async def _subjects(self, draft: Draft) -> set[str]:
        args = {"prerequisites": draft.prerequisites}
        rows = await self.session.rows(SQL["subjects"], args) if draft.prerequisites else []
        return {draft.subject_id, *(row["subject_id"] for row in rows)}

    async def _referenced_nodes(self, draft: Draft) -> dict[UUID, DictRow]:
        fields = dict.fromkeys(draft.prerequisites or (), "prerequisites")
        if draft.parent_id:
            fields[draft.parent_id] = "parent_id"
        args = {"node_ids": list(fields), "subject_id": draft.subject_id}
        nodes = {row["id"]: row for row in await self.session.rows(SQL["referenced"], args)}
        for node_id, field in fields.items():
            if node_id not in nodes:
                raise ToolValidationError(f"{field}: no node has the id {node_id}.", field=field)
            if not nodes[node_id]["is_usable"]:
                raise ToolValidationError(
                    f"{field}: node {node_id} belongs to {nodes[node_id]['subject_id']!r}, which does not "
                    f"share it with {draft.subject_id!r}.",
                    field=field,
                )
        return nodes

    async def _refuse_cycle(self, node_id: UUID, draft: Draft) -> None:
        if not draft.prerequisites:
            return
        rows = await self.session.rows(SQL["edges"], {"node_ids": draft.prerequisites})
        needs = {row["id"]: row["prerequisites"] for row in rows} | {node_id: draft.prerequisites}
        titles = {row["id"]: row["title"] for row in rows} | {node_id: draft.title}
        if cycle := find_cycle(needs):
            raise ToolValidationError(
                f"prerequisites: run in a circle: {cycle_words(titles[node] for node in cycle)}. Leave one of them out, or "
                "save that node without this prerequisite first.",
                field="prerequisites",
            )


def flatten(branches: Iterable[Branch]) -> Iterator[Branch]:
    """All nodes of a map, each before those below it."""
    for branch in branches:
        yield branch
        yield from flatten(branch["children"])


def _known(node: Node) -> SavedNode:
    return SavedNode(
        status="known",
        node_id=node["node_id"],
        subject_id=node["subject_id"],
        title=node["title"],
        depth=node["depth"],
    )


def _depth(draft: Draft, nodes: dict[UUID, DictRow]) -> int:
    depth: int = draft.depth or (nodes[draft.parent_id]["depth"] + 1 if draft.parent_id else 0)
    if not 0 <= depth <= DEPTH_MAX:
        raise ToolValidationError(f"depth: must be between 0 and {DEPTH_MAX} (got {depth}).", field="depth")
    return depth


def _distinct(prerequisites: Sequence[str]) -> list[UUID]:
    return list(dict.fromkeys(parse_id(text, field="prerequisites") for text in prerequisites))


def _check_count(count: int, *, field: str, count_max: int) -> None:
    if count > count_max:
        raise ToolValidationError(
            f"{field}: must have at most {count_max} entries (got {count}).", field=field
        )
