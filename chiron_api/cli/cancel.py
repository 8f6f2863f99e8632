import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.steering import Target, steer
from chiron_workers.batches import steering

cli = typer.Typer()


@cli.command()
async def cancel(target: Target, as_json: AsJson = False) -> None:
    """End a run, or all open runs of a batch. What was found stays; `chiron retry` goes on from there."""
    await steer(
        target, steering.cancel, "cancelled", "being cut off by its worker", action="cancel", as_json=as_json
    )
