from functools import partial
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.money import NewBudget, NewTokens
from chiron_api.cli.input.steering import Target, steer
from chiron_workers.batches import steering
from chiron_workers.billing.budgets import Budget

cli = typer.Typer()


@cli.command()
async def retry(
    target: Target,
    budget_usd: NewBudget = None,
    budget_tokens: NewTokens = None,
    from_scratch: Annotated[
        bool,
        typer.Option(
            "--from-scratch",
            help="Begin anew instead of where the run ended, also completed runs. What they stored is kept.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try a failed or cancelled run again, or all such runs of a batch. What the model has answered is not asked again."""
    command = partial(steering.retry, budget=Budget(budget_usd, budget_tokens), from_scratch=from_scratch)
    await steer(
        target,
        command,
        "tried again",
        hint=f"`chiron watch {target}` follows.",
        action="retry",
        as_json=as_json,
    )
