from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.learn.subject import Subject, open_subject_pool
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line
from chiron_workers.access.audit import command
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.coverage.proposals import REASON_CHARS_MAX, Proposal, Proposals
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session
from chiron_workers.states import ProposalKind, ProposalState


async def proposals(
    subject: Subject,
    state: Annotated[
        ProposalState | None, typer.Option(help="Only those in this state. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what research has proposed for the map of a subject, newest first, with what was decided and why."""
    async with open_subject_pool() as pool:
        session = Session(pool)
        subject_id = (await Subjects(session).require(subject))["subject_id"]
        items = await Proposals(session).of(subject_id, state=state)
    if as_json:
        typer.echo(json_line(items))
        return
    for item in items:
        typer.echo("\n".join(_lines(item)))
    if not items:
        typer.echo(f"Nothing is proposed for the map of {subject_id}.")


async def decide(
    proposal: Annotated[str, typer.Argument(help="The proposal's id, as `chiron learn proposals` shows it.")],
    accept: Annotated[bool, typer.Option("--accept/--reject", help="Whether the map is changed.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    as_json: AsJson = False,
) -> None:
    """Accept a proposal, which changes the map at once, or reject it. Facts and answers of a removed node stay."""
    async with open_subject_pool() as pool:
        state = ProposalState.ACCEPTED if accept else ProposalState.REJECTED
        try:
            proposal_id = await id_of(pool, proposal, Referent.PROPOSAL)
        except UsageError as error:
            raise UsageError(f"proposal_id: {error}") from None
        if not await Proposals(Session(pool)).is_there(proposal_id):
            raise NotFound(
                f"There is no proposal {proposal_id}. `chiron learn proposals` shows those of a subject."
            )
        async with (
            command(pool, "proposals.decide", proposal_id, {"state": state}),
            Session(pool) as session,
        ):
            item = await Proposals(session).decide(str(proposal_id), accept=accept, reason=reason)
    print_answer(f"The proposal is {item['state']}.", item, as_json=as_json)


def _lines(item: Proposal) -> list[str]:
    words = {
        ProposalKind.ADD: "add {title!r}",
        ProposalKind.PREREQUISITE: "know {other_title!r} before {title!r}",
        ProposalKind.MERGE: "make {title!r} one with {other_title!r}",
        ProposalKind.REMOVE: "remove {title!r}",
    }[ProposalKind(item["kind"])]
    titles = {"title": one_line(item["title"]), "other_title": one_line(item["other_title"] or "")}
    lines = [
        f"{item['proposal_id']}  {item['state']}  {words.format(**titles)}",
        f"  why: {one_line(item['reason'], chars_max=REASON_CHARS_MAX)}",
    ]
    if item["decided_by"]:
        reason = one_line(item["decision_reason"] or "", chars_max=REASON_CHARS_MAX)
        lines.append(f"  {item['state']} by {one_line(item['decided_by'])}: {reason}")
    return lines
