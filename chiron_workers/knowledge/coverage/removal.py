"""Taking a node out of a coverage map: facts and answers stay, and what hung on it hangs on another."""

from typing import Any
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.coverage.nodes import SQL as NODES_SQL
from chiron_workers.knowledge.coverage.nodes import Node, Nodes
from chiron_workers.knowledge.coverage.prerequisites import cycle_words, find_cycle
from chiron_workers.runs.session import Session

SQL = load(__file__)
# What hangs on a node goes to the one that it is merged into, in this order.
MOVES = (
    "lock_nodes",
    "inherit_prerequisites",
    "move_questions",
    "move_cards",
    "move_answers",
    "close_quizzes",
    "move_quizzes",
    "move_lessons",
    "move_journeys",
    "move_research",
    "reject_proposals",
    "move_proposals",
    "follow_merge",
)
MERGED = "Both nodes are one now."


class Removal:
    """Removes nodes, or merges them into others; the caller's transaction holds the map's lock."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def remove(self, node: Node) -> None:
        """Take a node out: those below it go to its parent, and those that need it need what it needed.

        Raises:
            ToolError: One of the nodes below it has the title of a node that stands where it would go.
        """
        parent_id = UUID(node["parent_id"]) if node["parent_id"] else None
        await self._refuse_clash(node, parent_id)
        instead = [UUID(node_id) for node_id in node["prerequisites"]]
        await self._take_out(node, into_id=None, instead=instead)
        await self._move_children(node, parent_id, levels=-1)

    async def merge(self, node: Node, into: Node) -> None:
        """Make a node another name of a second one, which gets its nodes below, its prerequisites, and all that hangs on it:
        questions, quizzes, answers, reviews, lessons, research and open proposals.

        Raises:
            ToolError: The two belong to different subjects, one stands below the other, prerequisites would run in a circle,
                or one of the nodes below has the title of one that stands where it would go.
        """
        if node["subject_id"] != into["subject_id"]:
            raise ToolError(
                f"{into['title']!r} belongs to {into['subject_id']!r}; merge nodes of one subject."
            )
        await self._refuse_kin(node, into)
        await self._refuse_cycle(node, into)
        into_id, node_id = UUID(into["node_id"]), UUID(node["node_id"])
        await self._refuse_clash(node, into_id)
        prerequisites = [UUID(prerequisite) for prerequisite in node["prerequisites"]]
        args: dict[str, Any] = {"node_id": node_id, "into_id": into_id, "reason": MERGED}
        args |= {"prerequisites": prerequisites}
        for name in MOVES:
            await self.session.write(SQL[name], args)
        await self._take_out(node, into_id=into_id, instead=[into_id])
        await self._move_children(node, into_id, levels=into["depth"] - node["depth"])

    async def _move_children(self, node: Node, parent_id: UUID | None, *, levels: int) -> None:
        args = {"node_id": UUID(node["node_id"]), "parent_id": parent_id, "levels": levels}
        await self.session.write(SQL["move_children"], args)

    async def _refuse_clash(self, node: Node, parent_id: UUID | None) -> None:
        args = {"node_id": UUID(node["node_id"]), "parent_id": parent_id}
        if clash := await self.session.row(SQL["clashing_child"], args):
            raise ToolError(
                f"{clash['title']!r} stands below {node['title']!r} and also where it would go; merge those two first."
            )

    async def _take_out(self, node: Node, *, into_id: UUID | None, instead: list[UUID]) -> None:
        args = {"node_id": UUID(node["node_id"]), "into_id": into_id, "instead": instead}
        await self.session.write(SQL["rewire"], args)
        await self.session.write(SQL["remove"], args)

    async def _refuse_kin(self, node: Node, into: Node) -> None:
        if node["node_id"] == into["node_id"]:
            raise ToolError(f"{node['title']!r} cannot be merged into itself; name another node.")
        nodes = Nodes(self.session)
        for lower, upper in ((node, into), (into, node)):
            ancestor = lower
            while ancestor["parent_id"]:
                ancestor = await nodes.get(ancestor["parent_id"])
                if ancestor["node_id"] == upper["node_id"]:
                    raise ToolError(
                        f"{lower['title']!r} stands below {upper['title']!r}; remove it instead of merging the two."
                    )

    async def _refuse_cycle(self, node: Node, into: Node) -> None:
        """Two nodes can be one where no third stands between them."""
        node_id, into_id = UUID(node["node_id"]), UUID(into["node_id"])
        rows = await self.session.rows(NODES_SQL["edges"], {"node_ids": [node_id, into_id]})
        titles = {row["id"]: row["title"] for row in rows}
        needs: dict[UUID, set[UUID]] = {}
        for row in rows:
            key = into_id if row["id"] == node_id else row["id"]
            prerequisites = {
                into_id if prerequisite == node_id else prerequisite for prerequisite in row["prerequisites"]
            } - {key}
            needs[key] = needs.get(key, set()) | prerequisites
        if cycle := find_cycle(needs):
            raise ToolError(
                f"As one node, prerequisites would run in a circle: {cycle_words(titles[n] for n in cycle)}."
            )
