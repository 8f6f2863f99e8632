from typing import Annotated

import typer

from chiron_api.acts.learning import DecisionRequest, ProposalsQuery, list_proposals
from chiron_api.acts.learning import decide as decide_proposal
from chiron_api.answers.learning import Proposal
from chiron_api.cli.display.answer import AsJson, print_answer, print_list
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.learn.subject import Subject
from chiron_api.services import open_services
from chiron_api.text import one_line
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.coverage.proposals import REASON_CHARS_MAX
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.settings import settings
from chiron_workers.states import ProposalKind


@takes_input()
async def proposals(subject: Subject, query: ProposalsQuery, as_json: AsJson = False) -> None:
    """List what research has proposed for the map of a subject, newest first, with what was decided and why."""
    async with open_services(settings(), pool_size=2) as services:
        items = (await list_proposals(services, subject, query)).items
    print_list(items, _text, f"Nothing is proposed for the map of {slug(subject)}.", as_json=as_json)


@takes_input(accept="--accept/--reject")
async def decide(
    proposal: Annotated[str, typer.Argument(help="The proposal's id, as `chiron learn proposals` shows it.")],
    body: DecisionRequest,
    as_json: AsJson = False,
) -> None:
    """Accept a proposal, which changes the map at once, or reject it. Facts and answers of a removed node stay."""
    async with open_services(settings(), pool_size=2) as services:
        proposal_id = await id_of(services.pool, proposal, Referent.PROPOSAL)
        try:
            item = await decide_proposal.command(services, proposal_id, body)
        except NotFound as error:
            raise NotFound(f"{error} `chiron learn proposals` shows those of a subject.") from None
    print_answer(f"The proposal is {item.state}.", item, as_json=as_json)


def _text(item: Proposal) -> str:
    words = {
        ProposalKind.ADD: "add {title!r}",
        ProposalKind.PREREQUISITE: "know {other_title!r} before {title!r}",
        ProposalKind.MERGE: "make {title!r} one with {other_title!r}",
        ProposalKind.REMOVE: "remove {title!r}",
    }[ProposalKind(item.kind)]
    titles = {"title": one_line(item.title), "other_title": one_line(item.other_title or "")}
    lines = [
        f"{item.proposal_id}  {item.state}  {words.format(**titles)}",
        f"  why: {one_line(item.reason, chars_max=REASON_CHARS_MAX)}",
    ]
    if item.decided_by:
        reason = one_line(item.decision_reason or "", chars_max=REASON_CHARS_MAX)
        lines.append(f"  {item.state} by {one_line(item.decided_by)}: {reason}")
    return "\n".join(lines)
