import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.steering import Target, steer
from chiron_workers.batches import steering

cli = typer.Typer()


@cli.command()
async def pause(target: Target, as_json: AsJson = False) -> None:
    """Put a run, or all open runs of a batch, aside until `chiron resume`. A model call in flight is finished first."""
    asked_words = "pausing as soon as the model has answered"
    await steer(target, steering.pause, "paused", asked_words, action="pause", as_json=as_json)
