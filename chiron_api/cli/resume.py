import typer

from chiron_api.acts.steering import NewBudget, resume_batch, resume_run
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.steering import Target, steer

cli = typer.Typer()


@cli.command()
@takes_input()
async def resume(target: Target, options: NewBudget, as_json: AsJson = False) -> None:
    """Let a paused run, or all paused runs of a batch, go on from where they were."""
    await steer(
        target,
        options,
        batch=resume_batch,
        run=resume_run,
        changed_words="going on",
        hint=f"`chiron watch {target}` follows.",
        as_json=as_json,
    )
