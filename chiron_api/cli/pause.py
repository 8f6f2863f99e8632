import typer

from chiron_api.acts.steering import NoOptions, pause_batch, pause_run
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.steering import Target, steer

cli = typer.Typer()


@cli.command()
async def pause(target: Target, as_json: AsJson = False) -> None:
    """Put a run, or all open runs of a batch, aside until `chiron resume`. A model call in flight is finished first."""
    await steer(
        target,
        NoOptions(),
        batch=pause_batch,
        run=pause_run,
        changed_words="paused",
        asked_words="pausing as soon as the model has answered",
        as_json=as_json,
    )
