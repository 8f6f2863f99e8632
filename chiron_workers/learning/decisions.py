"""Deciding what is proposed for a coverage map, as a person does who reads the answer."""

from uuid import UUID

from chiron_workers.errors import Conflict, NotFound, ToolError, ToolValidationError
from chiron_workers.knowledge.coverage.proposals import Proposal, Proposals
from chiron_workers.runs.session import Session


async def decide_proposal(session: Session, proposal_id: UUID, *, accept: bool, reason: str) -> Proposal:
    """Carry a proposal out, or turn it down.

    Raises:
        NotFound: There is no such proposal.
        Conflict: It was decided before, or the map does not allow it any more.
        ToolValidationError: The reason is empty or too long.
    """
    proposals = Proposals(session)
    if not await proposals.is_there(proposal_id):
        raise NotFound(f"There is no proposal with the id {proposal_id}.")
    try:
        return await proposals.decide(str(proposal_id), accept=accept, reason=reason)
    except ToolError as error:
        if isinstance(error, ToolValidationError) and error.field == "reason":
            raise
        raise Conflict(str(error)) from None
