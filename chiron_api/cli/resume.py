from functools import partial

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.money import NewBudget, NewTokens
from chiron_api.cli.input.steering import Target, steer
from chiron_workers.batches import steering
from chiron_workers.billing.budgets import Budget

cli = typer.Typer()


@cli.command()
async def resume(
    target: Target, budget_usd: NewBudget = None, budget_tokens: NewTokens = None, as_json: AsJson = False
) -> None:
    """Let a paused run, or all paused runs of a batch, go on from where they were."""
    command = partial(steering.resume, budget=Budget(budget_usd, budget_tokens))
    await steer(
        target,
        command,
        "going on",
        hint=f"`chiron watch {target}` follows.",
        action="resume",
        as_json=as_json,
    )
