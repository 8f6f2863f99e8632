from typing import Annotated

import typer

from chiron_api.cli import run
from chiron_api.steering import outcome, steer_once
from chiron_workers.batches import steering
from chiron_workers.batches.summaries import parse_id
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def pause(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
) -> None:
    """Put a run, or all open runs of a batch, aside until `chiron resume`. A model call in flight is finished first."""
    result = run(steer_once(settings(), parse_id(target), steering.pause))
    typer.echo(
        outcome(result, changed_words="paused", asked_words="pausing as soon as the model has answered")
    )
