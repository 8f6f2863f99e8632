import typer

from chiron_api.cli.input.steering import Target, steer
from chiron_workers.batches import steering

cli = typer.Typer()


@cli.command()
async def pause(target: Target) -> None:
    """Put a run, or all open runs of a batch, aside until `chiron resume`. A model call in flight is finished first."""
    typer.echo(await steer(target, steering.pause, "paused", "pausing as soon as the model has answered"))
