import typer

from chiron_api.acts.steering import NoOptions, cancel_batch, cancel_run
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.steering import Target, steer

cli = typer.Typer()


@cli.command()
async def cancel(target: Target, as_json: AsJson = False) -> None:
    """End a run, or all open runs of a batch. What was found stays; `chiron retry` goes on from there."""
    await steer(
        target,
        NoOptions(),
        batch=cancel_batch,
        run=cancel_run,
        changed_words="cancelled",
        asked_words="being cut off by its worker",
        as_json=as_json,
    )
