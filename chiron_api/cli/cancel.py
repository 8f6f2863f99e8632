from typing import Annotated

import typer

from chiron_api.cli import run
from chiron_api.steering import outcome, steer_once
from chiron_workers.batches import steering
from chiron_workers.batches.summaries import parse_id
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def cancel(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
) -> None:
    """End a run, or all open runs of a batch. What was found stays; `chiron retry` goes on from there."""
    result = run(steer_once(settings(), parse_id(target), steering.cancel))
    typer.echo(outcome(result, changed_words="cancelled", asked_words="being cut off by its worker"))
