from collections.abc import Iterator
from typing import Annotated

import typer

from chiron_api.acts.checks import Checking, check_subject
from chiron_api.answers.subjects import CheckReceipt
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_workers.settings import settings
from chiron_workers.states import Decider

cli = typer.Typer()


@cli.command()
@takes_input()
async def check(
    subject: Annotated[str, typer.Argument(help="Subject whose facts are checked against their quotes.")],
    checking: Checking,
    as_json: AsJson = False,
) -> None:
    """Ask a model about every fact that no model has judged: does its quote support it?

    A run of the role `verifier` asks about twelve at a time. What a quote does not support is no longer shown as accepted; it
    stays in the database, with the reason. What rules alone had doubted counts again if the model supports it.
    """
    async with open_services(settings(), pool_size=2) as services:
        receipt = (await check_subject.command(services, subject, checking)).answer
    typer.echo(json_line(receipt) if as_json else "\n".join(check_lines(receipt)))


def check_lines(receipt: CheckReceipt) -> Iterator[str]:
    """What is checked by whom, and what cannot be."""
    if receipt.batch_id is None:
        yield f"{receipt.subject_id}: nothing to ask; a model has judged every quote that stands in its source."
    else:
        verb = "to be checked" if receipt.is_new else "that were to be checked before"
        yield f"{receipt.subject_id}: {_quotes(receipt.unchecked)} {verb} by {receipt.judge}, batch {receipt.batch_id}."
        if receipt.judge == Decider.RULES:
            yield "No model is configured. Rules only doubt, so what they do not doubt stays unchecked."
        yield f"  chiron watch {receipt.batch_id}   follows it"
    if receipt.unverified:
        yield (
            f"{_quotes(receipt.unverified)} cannot be checked, since no text of the source here holds it; such a fact stays "
            "out of sight."
        )


def _quotes(count: int) -> str:
    return f"{count:,} quote{'' if count == 1 else 's'}"
