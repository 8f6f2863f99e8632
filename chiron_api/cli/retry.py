import typer

from chiron_api.acts.steering import Retry, retry_batch, retry_run
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.steering import Target, steer

cli = typer.Typer()


@cli.command()
@takes_input()
async def retry(target: Target, options: Retry, as_json: AsJson = False) -> None:
    """Try a failed or cancelled run again, or all such runs of a batch. What the model has answered is not asked again."""
    await steer(
        target,
        options,
        batch=retry_batch,
        run=retry_run,
        changed_words="tried again",
        hint=f"`chiron watch {target}` follows.",
        as_json=as_json,
    )
