"""What research proposes to change in a coverage map, and what was decided about it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypedDict, cast
from uuid import UUID

from chiron_workers import ids
from chiron_workers.access.audit import record_within
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, parse_id
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.knowledge.coverage.curricula import Curricula
from chiron_workers.knowledge.coverage.nodes import Draft, Nodes, SavedNode, draft
from chiron_workers.knowledge.coverage.removal import Removal
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, ProposalKind, ProposalState

SQL = load(__file__)
REASON_CHARS_MAX = 2_000
PROPOSALS_SHOWN = 200
NO_CURRICULUM = "The subject has no curriculum that it could disagree with."
NO_DECISION = {"state": ProposalState.OPEN, "decision_reason": "", "decided_by": ""}
OF_TWO = {ProposalKind.PREREQUISITE, ProposalKind.MERGE}


class Proposal(TypedDict):
    """A proposal: `title` is of the node it is about, `other_title` of its prerequisite or of the node to merge it into."""

    proposal_id: str
    subject_id: str
    kind: ProposalKind
    node_id: str | None
    title: str
    other_node_id: str | None
    other_title: str | None
    reason: str
    state: ProposalState
    decision_reason: str
    decided_by: str
    decided_at: datetime | None
    run_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a node; `other_node_id` is its prerequisite, or the node to merge it into.

    A node to add has no id.
    """

    kind: ProposalKind
    node_id: UUID | None = None
    other_node_id: UUID | None = None


class Proposals:
    """Proposals for coverage maps: made by runs that may not change them, decided by a curriculum run or a person."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.nodes = Nodes(session)

    async def propose_node(self, node: Draft, *, reason: str) -> SavedNode:
        """Propose a node; it is saved at once where the subject has no curriculum.

        Raises:
            ToolValidationError: As for saving it.
        """
        Subjects(self.session).require_writable(node.subject_id)
        place = await self.nodes.place(node)
        receipt = SavedNode(
            status="known",
            node_id=str(place.node_id),
            subject_id=node.subject_id,
            title=node.title,
            depth=place.depth,
        )
        if not await Curricula(self.session).is_mapped(node.subject_id):
            receipt = await self.nodes.save(node)
            if receipt["status"] == "saved":
                change = Change(ProposalKind.ADD, UUID(receipt["node_id"]))
                decision = _decision(ProposalState.ACCEPTED, NO_CURRICULUM, Decider.RULES)
                await self._insert(node.subject_id, change, reason, node, decision)
            return receipt
        if not (place.is_new or place.is_removed):
            return receipt
        proposal_id = await self._insert(node.subject_id, Change(ProposalKind.ADD), reason, node)
        return SavedNode(
            status="proposed",
            proposal_id=str(proposal_id),
            subject_id=node.subject_id,
            title=node.title,
            depth=place.depth,
        )

    async def propose(self, change: Change, *, reason: str) -> Proposal:
        """Propose a change of a node that is there; the same one twice is one.

        Raises:
            ToolValidationError: A node is not there, or a second one is missing or too many.
        """
        node = await self.nodes.get(str(change.node_id))
        Subjects(self.session).require_writable(node["subject_id"], field="node_id")
        if (change.other_node_id is not None) != (change.kind in OF_TWO):
            need = "names the other node" if change.kind in OF_TWO else "is about one node alone"
            raise ToolValidationError(
                f"other_node_id: a proposal to {_verb(change.kind)} {need}.", field="other_node_id"
            )
        if change.other_node_id is not None:
            await self.nodes.get(str(change.other_node_id))
        if change.other_node_id == change.node_id:
            raise ToolValidationError(
                "other_node_id: must be another node than node_id.", field="other_node_id"
            )
        proposal_id = await self._insert(node["subject_id"], change, reason)
        return await self.get(str(proposal_id))

    async def get(self, proposal_id: str) -> Proposal:
        """One proposal. Raises ToolValidationError naming proposal_id where there is none."""
        return cast("Proposal", _without_draft(await self._row(proposal_id)))

    async def is_there(self, proposal_id: UUID) -> bool:
        """Whether there is a proposal of that id."""
        return await self.session.row(SQL["get"], {"id": proposal_id}) is not None

    async def of(self, subject_id: str, *, state: ProposalState | None = None) -> list[Proposal]:
        """The proposals of a subject, newest first; 200 at most."""
        args = {"subject_id": subject_id, "state": state, "limit": PROPOSALS_SHOWN}
        return [cast("Proposal", _without_draft(row)) for row in await self.session.rows(SQL["list"], args)]

    async def decide(self, proposal_id: str, *, accept: bool, reason: str) -> Proposal:
        """Carry a proposal out, or turn it down.

        Raises:
            ToolValidationError: There is no such proposal, or the map does not allow it any more; it stays open then.
            ToolError: It was decided before.
        """
        row = await self._row(proposal_id)
        subject_id = Subjects(self.session).require_writable(row["subject_id"], field="proposal_id")
        await self.nodes.lock(subject_id)
        [current] = await self.session.write(SQL["lock"], {"id": UUID(row["proposal_id"])})
        if current["state"] != ProposalState.OPEN:
            raise ToolError(f"The proposal {proposal_id} is {current['state']} already.")
        node_id = await self._carry_out(row) if accept else None
        state = ProposalState.ACCEPTED if accept else ProposalState.REJECTED
        caller = self.session.caller
        args = _decision(state, _reason(reason), caller.role or caller.owner)
        await self.session.write(SQL["decide"], {"id": UUID(row["proposal_id"]), "node_id": node_id, **args})
        await record_within(await self.session.begin(), {"state": state}, proposals=row["proposal_id"])
        return await self.get(proposal_id)

    async def _carry_out(self, row: dict[str, Any]) -> UUID:
        """The node that the proposal is about, after it was carried out."""
        if row["kind"] == ProposalKind.ADD:
            receipt = await self.nodes.save(draft(**row["draft"]))
            return UUID(receipt["node_id"])
        node = await self.nodes.get(row["node_id"])
        match row["kind"]:
            case ProposalKind.PREREQUISITE:
                await self.nodes.add_prerequisites(row["node_id"], [row["other_node_id"]])
            case ProposalKind.MERGE:
                await Removal(self.session).merge(node, await self.nodes.get(row["other_node_id"]))
            case ProposalKind.REMOVE:
                await Removal(self.session).remove(node)
        return UUID(row["node_id"])

    async def _row(self, proposal_id: str) -> dict[str, Any]:
        uuid = parse_id(proposal_id, field="proposal_id")
        row = await self.session.row(SQL["get"], {"id": uuid})
        if row is None:
            raise ToolValidationError(
                f"proposal_id: no proposal has the id {uuid}; list_proposals lists those of a subject.",
                field="proposal_id",
            )
        return row

    async def _insert(
        self,
        subject_id: str,
        change: Change,
        reason: str,
        node: Draft | None = None,
        decision: Mapping[str, object] = NO_DECISION,
    ) -> UUID:
        args = {
            "id": ids.new_id(),
            "subject_id": subject_id,
            **asdict(change),
            "draft": json.dumps(asdict(replace(node, shared_with_subjects=None)), default=str)
            if node
            else None,
            "reason": _reason(reason),
            "run_id": self.session.caller.run_id,
            **decision,
        }
        rows = await self.session.write(SQL["insert"], args) or await self.session.rows(SQL["same"], args)
        proposal_id: UUID = rows[0]["id"]
        return proposal_id


def _decision(state: ProposalState, reason: str, decided_by: str) -> dict[str, object]:
    return {"state": state, "decision_reason": reason, "decided_by": decided_by}


def _reason(reason: str) -> str:
    return clean_text(reason, field="reason", chars_max=REASON_CHARS_MAX)


def _verb(kind: ProposalKind) -> str:
    return {ProposalKind.PREREQUISITE: "add a prerequisite"}.get(kind, f"{kind} a node")


def _without_draft(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "draft"}
